import { expect, test } from 'vitest';
import { toNormalP, toWilsonInterval, toZ } from '../../src/statistics/intervals.ts';
import { toPercentile } from '../../src/statistics/percentile.ts';
import { reference } from './support.ts';

test("Wilson's interval equals that of statsmodels", () => {
  for (const { passes, count, level, low, high } of reference.wilson) {
    const interval = toWilsonInterval({ rate: passes / count, count }, level);
    expect(interval?.low).toBeCloseTo(low, 12);
    expect(interval?.high).toBeCloseTo(high, 12);
  }
});

test("Wilson's interval stays in 0..1 and is unknown without observations", () => {
  expect(toWilsonInterval({ rate: 0, count: 3 })?.low).toBe(0);
  expect(toWilsonInterval({ rate: 1, count: 3 })?.high).toBe(1);
  expect(toWilsonInterval({ rate: 0, count: 0 })).toBeNull();
});

test('normal quantiles and tails equal those of SciPy', () => {
  for (const [level, z] of reference.normal) expect(toZ(level)).toBeCloseTo(z, 12);
  for (const [z, p] of reference.normalP) expect(toNormalP(z)).toBeCloseTo(p, 12);
});

test('percentiles equal those of NumPy', () => {
  for (const { values, points } of reference.percentiles) {
    for (const [share, expected] of points) expect(toPercentile(values, share)).toBeCloseTo(expected, 9);
  }
  expect(toPercentile([], 0.5)).toBeNull();
});
