import { expect, test } from 'vitest';
import { judge, score } from './support.ts';

test.each([
  ['42', 42],
  ['It costs 1,234.50 dollars', 1234.5],
  ['There are 3 boxes of 14, so 42.', 42],
  ['Answer: 42 (there were 7 steps)', 42],
  ['The answer is **42**, found in 3 steps.', 42],
  ['#### 42', 42],
  [String.raw`so \boxed{1{,}024} in 5 lines`, 1024],
  [String.raw`\boxed{\frac{3}{4}}`, 0.75],
  ['3/4', 0.75],
  ['-5', -5],
  ['−5', -5],
  ['10-5', 5],
  ['-$5', -5],
  ['$1,000,000', 1_000_000],
  ['1 000'.replace(' ', '\u202f'), 1000],
  ["1'000", 1000],
  ['2.5e3', 2500],
  ['3 x 10^8', 3e8],
  [String.raw`3 \times 10^{8}`, 3e8],
  ['3 × 10⁸', 3e8],
  ['.5', 0.5],
  ['85%', 85],
  ['H2O weighs 18 g', 18],
  ['version 1.2.3 has 7 parts', 7],
  ['1, 2, 3', 3],
  ['1,2,3', 3],
  ['0.1 + 0.2 = 0.30000000000000004', 0.3],
  ['**Answer:** 12.', 12],
  ['- 42', 42],
])('answer %j is %d', async (answer, target) => {
  expect(await score('numeric', { answer, target })).toMatchObject({ value: 1 });
});

test.each([
  ['Answer: 41', 42],
  ['no idea', 42],
  ['42 then 43', 42],
  ['1e999', 42],
  ['NaN', 0],
  ['1/0', 0],
])('answer %j is not %d', async (answer, target) => {
  expect(await score('numeric', { answer, target })).toMatchObject({ kind: 'scored', value: 0 });
});

test('tolerances are absolute or relative to the target, the wider holds', async () => {
  const given = { answer: '3.14', target: Math.PI };
  expect(await judge('numeric', given)).toBe(0);
  expect(await judge('numeric', { ...given, options: { tolerance: 0.01 } })).toBe(1);
  expect(await judge('numeric', { ...given, options: { relativeTolerance: 0.001 } })).toBe(1);
  expect(await judge('numeric', { ...given, options: { tolerance: 0.001, relativeTolerance: 0.0001 } })).toBe(
    0,
  );
});

test('a percent sign is dropped, or divides by a hundred when told', async () => {
  expect(await judge('numeric', { answer: '85%', target: 0.85 })).toBe(0);
  expect(await judge('numeric', { answer: '85 %', target: 0.85, options: { percent: 'divide' } })).toBe(1);
  expect(await judge('numeric', { answer: '0.85', target: '85%', options: { percent: 'divide' } })).toBe(1);
});

test('select and the decimal mark can be chosen', async () => {
  expect(await judge('numeric', { answer: '7 of 9', target: 7, options: { select: 'first' } })).toBe(1);
  expect(await judge('numeric', { answer: 'Answer: 7 of 9', target: 9, options: { select: 'last' } })).toBe(
    1,
  );
  expect(await judge('numeric', { answer: '1.234,5', target: 1234.5, options: { decimal: 'comma' } })).toBe(
    1,
  );
});

test('targets may be text or a list, one that is no number is unscored', async () => {
  expect(await judge('numeric', { answer: '1234', target: '1,234' })).toBe(1);
  expect(await judge('numeric', { answer: '2', target: [1, 2] })).toBe(1);
  expect(await judge('numeric', { answer: '2', target: 'two' })).toBe('bad_target');
});

test('F10 the scale of a score in the answer is never guessed', async () => {
  expect(await judge('numeric', { answer: '8/10', target: 0.8 })).toBe(1);
  expect(await judge('numeric', { answer: '8', target: 0.8 })).toBe(0);
});

test('hostile answers are read in linear time', async () => {
  const startedAt = performance.now();
  for (const answer of ['answer is '.repeat(50_000), `1${' '.repeat(500_000)}`, '1'.repeat(500_000)]) {
    expect(await judge('numeric', { answer: `${answer} 2`, target: 2 })).toBe(1);
  }
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});
