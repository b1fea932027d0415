import { expect, test } from 'vitest';
import { regex } from '../../src/scorers/regex.ts';
import { judge, score } from './support.ts';

test.each([
  ['order 1234 shipped', String.raw`\b\d{4}\b`, {}, 1],
  ['ORDER', 'order', {}, 0],
  ['ORDER', 'order', { ignoreCase: true }, 1],
  ['a\nb', '^b$', {}, 0],
  ['a\nb', '^b$', { multiline: true }, 1],
  ['a\nb', 'a.b', { dotAll: true }, 1],
  ['é', String.raw`^\p{L}$`, {}, 1],
  ['a-b', String.raw`a\-b`, {}, 1],
  ['', '^$', {}, 1],
])('answer %j, pattern %j, options %j is %d', async (...[answer, target, options, value]) => {
  expect(await judge('regex', { answer, target, options })).toBe(value);
  expect(await judge('regex', { answer, options: { ...options, pattern: target } })).toBe(value);
});

test('a target is needed only without the option pattern', () => {
  expect(regex.needsTarget({})).toBe(true);
  expect(regex.needsTarget({ pattern: 'x' })).toBe(false);
});

test('a bad pattern is found when options are checked, with a hint on inline flags', () => {
  const { error } = regex.options.safeParse({ pattern: '(?i)x(' });
  expect(error?.issues[0]?.path).toEqual(['pattern']);
  expect(error?.issues[0]?.message).toMatch(/not a JavaScript regular expression.*ignoreCase/);
});

test('a bad pattern in a target is unscored', async () => {
  expect(await judge('regex', { answer: 'x', target: '(' })).toBe('bad_pattern');
  expect(await judge('regex', { answer: 'x', target: '' })).toBe('bad_pattern');
});

test('a catastrophic pattern is unscored by name after a second and touches no other score', async () => {
  const startedAt = performance.now();
  const [hostile, next, other] = await Promise.all([
    score('regex', { answer: `${'a'.repeat(40)}!`, target: '^(a+)+$' }),
    judge('regex', { answer: 'fine', target: 'f' }),
    judge('exact', { answer: 'fine', target: 'fine' }),
  ]);
  expect(hostile).toMatchObject({ kind: 'unscored', code: 'time_out' });
  expect(hostile.explanation).toMatch(/^scorer regex: pattern .* took longer than 1 s/);
  expect([next, other]).toEqual([1, 1]);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
