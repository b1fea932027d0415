import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRandom } from '../../src/statistics/random.ts';
import { testSignFlips } from '../../src/statistics/sign-flips.ts';
import { reference, toCases } from './support.ts';

const flip = (values: readonly number[], seed = 1) => testSignFlips(toCases(values), createRandom(seed));

test("exact p-values equal SciPy's permutation test, with weights and clusters", () => {
  for (const { differences, weights, groups, p } of reference.signFlips) {
    const cases = toCases(differences).map((item, index) => ({
      ...item,
      weight: weights[index]!,
      cluster: `g${groups[index]}`,
    }));
    expect(testSignFlips(cases, createRandom(1))).toBeCloseTo(p, 10);
  }
});

test('nothing, ties and weights of 0 separate nothing', () => {
  expect(flip([])).toBe(1);
  expect(flip([0, 0, 0, 0])).toBe(1);
  expect(flip([0.5])).toBe(1);
  const weightless = toCases([1, 1, 1]).map((item) => ({ ...item, weight: 0 }));
  expect(testSignFlips(weightless, createRandom(1))).toBe(1);
});

test('a clean sweep of n has p = 2 / 2^n, however small the step', () => {
  for (const count of [2, 6, 12, 20])
    expect(flip(Array.from({ length: count }, () => 0.1))).toBe(2 / 2 ** count);
});

test('beyond 20 clusters draws come close to the exact value, are seeded and never 0', () => {
  const values = Array.from({ length: 20 }, (_, index) => ((index * 13) % 17) / 17 - 0.35);
  const exact = flip(values);
  const tiny = [...values, 1e-6];
  expect(Math.abs(flip(tiny) - exact)).toBeLessThan(0.02);
  expect(flip(tiny, 3)).toBe(flip(tiny, 3));
  expect(flip(Array.from({ length: 30 }, () => 1))).toBe(1 / 10_001);
});

test('beyond 1,000 clusters the normal limit agrees with the draws', () => {
  const at = (count: number) =>
    flip(Array.from({ length: count }, (_, index) => ((index * 37) % 101) / 101 - 0.49));
  expect(Math.abs(at(1_011) - at(999))).toBeLessThan(0.1);
});

test('the order of cases, their sign and their scale change nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 10 }), (values) => {
      const p = flip(values);
      expect(p).toBeGreaterThan(0);
      expect(p).toBeLessThanOrEqual(1);
      expect(flip(values.toReversed())).toBe(p);
      expect(flip(values.map((value) => -value / 10))).toBe(p);
    }),
  );
});
