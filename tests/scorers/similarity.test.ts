import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, score } from './support.ts';

const edit = { method: 'edit' };

test.each([
  ['kitten', 'sitting', 1 - 3 / 7],
  ['Kitten', 'kitten', 1],
  ['  a   b ', 'a b', 1],
  ['', 'abc', 0],
  ['', '', 1],
  ['日本語', '日本人', 2 / 3],
])('edit distance: %j is like %j', async (answer, target, value) => {
  expect(await judge('similarity', { answer, target, options: edit })).toBeCloseTo(value, 12);
});

test.each([
  ['the cat sat', 'the cat sat down', 6 / 7],
  ['sat cat the', 'the cat sat', 1],
  ['The cat, sat!', 'the cat sat', 1],
  ['the the the', 'the', 0.5],
  ['', 'the cat', 0],
  ['!?', '!?', 1],
  ['!?', '?', 0],
  ['我喜欢苹果', '我喜欢香蕉', 2 / 3],
])('tokens: %j is like %j', async (answer, target, value) => {
  expect(await judge('similarity', { answer, target })).toBeCloseTo(value, 12);
});

test('the closest of several targets counts, and the explanation names it', async () => {
  const verdict = await score('similarity', {
    answer: 'a red car',
    target: ['a blue bus', 'the red car'],
    threshold: 0.6,
  });
  expect(verdict).toMatchObject({ kind: 'scored', pass: true });
  expect(verdict.explanation).toBe('0.67 like "the red car": got "a red car"');
});

test('options decide whether case and punctuation count', async () => {
  const given = { answer: 'Yes.', target: 'yes' };
  expect(await judge('similarity', { ...given, options: edit })).toBe(0.75);
  expect(await judge('similarity', { ...given, options: { ...edit, ignorePunctuation: true } })).toBe(1);
  expect(await judge('similarity', { ...given, options: { ...edit, ignoreCase: false } })).toBe(0.5);
});

test('texts that would hold up the worker are refused, and a long answer within the limits is judged', async () => {
  const long = 'word '.repeat(200_000);
  expect(await judge('similarity', { answer: long, target: long })).toBe('too_long');
  expect(await judge('similarity', { answer: long, target: long, options: edit })).toBe('too_long');
  expect(
    await judge('similarity', { answer: 'word '.repeat(30_000), target: 'word', options: edit }),
  ).toBeLessThan(0.01);
  expect(await judge('similarity', { answer: 'x' })).toBe('no_target');
});

test('values lie in 0..1, are 1 for equal texts, and the same either way round', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom('edit', 'tokens'),
      async (one, other, method) => {
        const at = (answer: string, target: string) =>
          judge('similarity', { answer, target, options: { method } });
        const value = await at(one, other);
        expect(value).toBeGreaterThanOrEqual(0);
        expect(value).toBeLessThanOrEqual(1);
        expect(await at(other, one)).toBe(value);
        expect(await at(one, one)).toBe(1);
      },
    ),
    { numRuns: 60 },
  );
});
