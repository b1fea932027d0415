import { expect, test } from 'vitest';
import { judge, score } from './support.ts';

test.each([
  ['Paris', 'Paris', 1],
  ['  Paris\n', 'Paris', 1],
  ['paris', 'Paris', 0],
  ['Paris, France', 'Paris', 0],
  ['cafe\u0301', 'caf\u00e9', 1],
  ['42', 42, 1],
  ['0', 0, 1],
  ['false', false, 1],
  ['false', 'False', 0],
  ['1.10', '1.10', 1],
  ['1.1', '1.10', 0],
  ['', 'Paris', 0],
])('answer %j against target %j is %d', async (answer, target, value) => {
  expect(await judge('exact', { answer, target })).toBe(value);
});

test('a list of targets means any of them', async () => {
  expect(await judge('exact', { answer: 'Lyon', target: ['Paris', 'Lyon'] })).toBe(1);
});

test('options loosen the comparison one by one', async () => {
  const given = { answer: ' the  Quick, fox! ', target: 'The quick fox' };
  const options = { ignoreCase: true, collapseSpaces: true, ignorePunctuation: true };
  expect(await judge('exact', { ...given, options })).toBe(1);
  expect(await judge('exact', { ...given, options: { ...options, ignorePunctuation: false } })).toBe(0);
  expect(await judge('exact', { answer: ' a', target: 'a', options: { trim: false } })).toBe(0);
});

test('the explanation of a miss names both sides and a near miss', async () => {
  const miss = await score('exact', { answer: 'paris', target: 'Paris' });
  expect(miss.explanation).toBe('expected "Paris", got "paris" (differs only in case)');
});

test('AC-E3 an empty answer scores 0 and says so, it is not unscored', async () => {
  for (const [kind, target] of [
    ['exact', 'x'],
    ['includes', 'x'],
    ['regex', 'x'],
    ['choice', 'A'],
    ['numeric', 1],
    ['json', { ok: true }],
  ] as const) {
    const verdict = await score(kind, { answer: '  ', target, choices: ['a', 'b'] });
    expect(verdict).toMatchObject({ kind: 'scored', value: 0, pass: false });
    expect(verdict.explanation).toContain('empty');
  }
});

test('a case without a target is unscored by name', async () => {
  for (const kind of ['exact', 'includes', 'regex', 'choice', 'numeric', 'json']) {
    const verdict = await score(kind, { answer: 'x' });
    expect(verdict).toMatchObject({ kind: 'unscored', code: 'no_target' });
    expect(verdict.explanation).toContain(kind);
  }
});
