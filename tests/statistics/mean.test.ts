import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toCaseValues } from '../../src/statistics/case-values.ts';
import { toMeanInterval, toTInterval } from '../../src/statistics/intervals.ts';
import { countEffective, estimateMean } from '../../src/statistics/mean.ts';
import { reference, toCases } from './support.ts';

test('mean, clustered standard error and t interval equal those of statsmodels and SciPy', () => {
  for (const expected of reference.clustered) {
    const estimate = estimateMean(expected.cases);
    expect(estimate?.value).toBeCloseTo(expected.mean, 12);
    expect(estimate?.standardError).toBeCloseTo(expected.standardError, 12);
    expect(estimate?.clusters).toBe(expected.clusters);
    const interval = estimate && toTInterval(estimate);
    expect(interval?.low).toBeCloseTo(expected.low, 9);
    expect(interval?.high).toBeCloseTo(expected.high, 9);
  }
});

test('C18 ten identical attempts of 50 cases have the standard error of 50', () => {
  const once = Array.from({ length: 50 }, (_, index) => ({
    caseId: `c${index}`,
    cluster: null,
    weight: 1,
    value: index % 3 === 0 ? 1 : 0,
  }));
  const tenTimes = once.flatMap((attempt) => Array.from({ length: 10 }, () => attempt));
  const single = estimateMean(toCaseValues(once));
  const repeated = estimateMean(toCaseValues(tenTimes));
  expect(repeated).toEqual(single);
  expect(repeated).toMatchObject({ cases: 50, clusters: 50 });
});

test('C18 questions on one passage count as one cluster', () => {
  const values = toCases([1, 1, 1, 1, 0, 0, 0, 0]);
  const alone = estimateMean(values)?.standardError ?? 0;
  const together = estimateMean(values.map((item, index) => ({ ...item, cluster: index < 4 ? 'a' : 'b' })));
  expect(together).toMatchObject({ cases: 8, clusters: 2 });
  expect(together?.standardError).toBeGreaterThan(2 * alone);
});

test('a cluster and a case of the same name stay apart', () => {
  const [first, second] = toCases([0, 1]);
  const values = [
    { ...first!, caseId: 'x' },
    { ...second!, cluster: 'x' },
  ];
  expect(estimateMean(values)?.clusters).toBe(2);
});

test('attempts are averaged per case first, or the best one counts', () => {
  const attempt = (caseId: string, value: number) => ({ caseId, cluster: null, weight: 1, value });
  const attempts = [attempt('a', 1), attempt('a', 0), attempt('b', 1)];
  expect(estimateMean(toCaseValues(attempts))?.value).toBe(0.75);
  expect(estimateMean(toCaseValues(attempts, 'best'))?.value).toBe(1);
});

test('nothing, one case and weights of 0 give no figure that is not known', () => {
  expect(estimateMean([])).toBeNull();
  expect(estimateMean(toCases([0.5]).map((item) => ({ ...item, weight: 0 })))).toBeNull();
  const one = estimateMean(toCases([0.5]));
  expect(one).toEqual({ value: 0.5, standardError: null, cases: 1, clusters: 1 });
  expect(one && toMeanInterval(one)).toBeNull();
});

test('a case with weight 0 is not counted', () => {
  const [first, second, third] = toCases([1, 0, 1]);
  expect(estimateMean([first!, { ...second!, weight: 0 }, third!])).toMatchObject({ value: 1, cases: 2 });
});

test('all equal: no spread, and at 0 and 1 an interval that still has a width', () => {
  const equal = estimateMean(toCases([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]));
  expect(equal?.standardError).toBe(0);
  const perfect = estimateMean(toCases([1, 1, 1, 1, 1]));
  const interval = perfect && toMeanInterval(perfect);
  expect(interval?.high).toBe(1);
  expect(interval?.low).toBeCloseTo(0.5655, 4);
});

test('equal weights count every cluster, unequal ones fewer', () => {
  expect(countEffective(toCases([1, 0, 1]))).toBe(3);
  const [first, second] = toCases([1, 0]);
  expect(countEffective([{ ...first!, weight: 3 }, second!])).toBeCloseTo(1.6, 12);
  expect(countEffective([])).toBe(0);
});

test('F25 the order of cases and a common factor of the weights change nothing', () => {
  const item = fc.record({
    caseId: fc.uuid(),
    cluster: fc.option(fc.constantFrom('a', 'b', 'c'), { nil: null }),
    weight: fc.integer({ min: 0, max: 5 }),
    value: fc.double({ min: 0, max: 1, noNaN: true }),
    attempts: fc.constant(1),
  });
  fc.assert(
    fc.property(fc.uniqueArray(item, { selector: (one) => one.caseId, maxLength: 30 }), (cases) => {
      const estimate = estimateMean(cases);
      const scaled = estimateMean(cases.toReversed().map((one) => ({ ...one, weight: one.weight * 4 })));
      expect(scaled === null).toBe(estimate === null);
      fc.pre(estimate !== null && scaled !== null);
      expect(scaled.value).toBeCloseTo(estimate.value, 12);
      expect(scaled.standardError ?? 0).toBeCloseTo(estimate.standardError ?? 0, 9);
      expect(estimate.value).toBeGreaterThanOrEqual(0);
      expect(estimate.value).toBeLessThanOrEqual(1);
      const { low, high } = toMeanInterval(estimate) ?? { low: 0, high: 1 };
      expect(low).toBeLessThanOrEqual(high);
    }),
  );
});
