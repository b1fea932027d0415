import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countCasesNeeded, toSampleSize } from '../../src/statistics/cases-needed.ts';
import { toNewcombeInterval, toPairedIntervals } from '../../src/statistics/paired-interval.ts';
import { comparePaired, toBinomialP, toPairs } from '../../src/statistics/paired.ts';
import { reference, toCases } from './support.ts';

const repeat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);
const alpha = 0.05;

test("the exact p-value equals statsmodels' McNemar test", () => {
  for (const { wins, losses, p } of reference.mcnemar) expect(toBinomialP(wins, losses)).toBeCloseTo(p, 12);
});

test('C17 pairs show a regression that the unpaired test of the same 220 cases hides', () => {
  const { both, first, second, cases, paired, unpaired } = reference.hiddenRegression;
  const rest = cases - both - first - second;
  const one = toCases([...repeat(1, both + first), ...repeat(0, second + rest)]);
  const two = toCases([...repeat(1, both), ...repeat(0, first), ...repeat(1, second), ...repeat(0, rest)]);
  const comparison = comparePaired(one, two, { alpha });
  expect(unpaired).toBeCloseTo(0.08, 3);
  expect(comparison).toMatchObject({ method: 'mcnemar', cases: 220, wins: first, losses: second });
  expect(comparison.p).toBeCloseTo(paired, 12);
  expect(comparison.isSeparated).toBe(true);
  const { main } = toPairedIntervals(toPairs(one, two), { seed: 1 });
  expect(main?.high).toBeLessThan(0);
  expect(main?.method).toBe('newcombe');
});

test('a clean sweep of six binary cases separates, of five does not', () => {
  const sweep = (count: number) =>
    comparePaired(toCases(repeat(1, count)), toCases(repeat(0, count)), { alpha });
  expect(sweep(6)).toMatchObject({ method: 'mcnemar', isSeparated: true, wins: 6, losses: 0, ties: 0 });
  expect(sweep(5)).toMatchObject({ p: 0.0625, isSeparated: false });
  const lax = comparePaired(toCases(repeat(1, 5)), toCases(repeat(0, 5)), { alpha: 0.2 });
  expect(lax.isSeparated).toBe(false);
});

test('a constant lead without spread is tested by its signs, not by a t interval of width 0', () => {
  const [high, low] = [toCases(repeat(0.6, 9)), toCases(repeat(0.5, 9))];
  expect(comparePaired(high.slice(0, 6), low.slice(0, 6), { alpha: 0.01 })).toMatchObject({
    method: 'permutation',
    isSeparated: false,
  });
  expect(comparePaired(high, low, { alpha: 0.01 }).isSeparated).toBe(true);
  expect(comparePaired(low, low, { alpha })).toMatchObject({ p: 1, isSeparated: false });
  expect(toPairedIntervals(toPairs(high, low), { seed: 1 })).toEqual({ main: null, bootstrap: null });
});

test('graded scores are compared by their signs, on shared cases only', () => {
  const base = Array.from({ length: 20 }, (_, index) => 0.3 + (index % 5) / 10);
  const better = base.map((value, index) => value + 0.1 + (index % 3) / 100);
  const comparison = comparePaired(toCases(better), toCases(base.slice(0, 12)), { alpha });
  expect(comparison).toMatchObject({ method: 'permutation', cases: 12, isSeparated: true });
  const { main, bootstrap } = toPairedIntervals(toPairs(toCases(better), toCases(base)), { seed: 1 });
  expect(main).toMatchObject({ method: 't', level: 0.95 });
  expect(main?.low).toBeGreaterThan(0.1);
  expect(bootstrap?.low).toBeCloseTo(main?.low ?? NaN, 2);
});

test('cases of one cluster do not multiply the evidence', () => {
  const clustered = (values: number[]) =>
    toCases(values).map((item) => ({ ...item, cluster: 'one passage' }));
  const comparison = comparePaired(clustered(repeat(1, 40)), clustered(repeat(0, 40)), { alpha });
  expect(comparison).toMatchObject({ clusters: 1, method: 'permutation', p: 1, isSeparated: false });
});

test('nothing shared has no figure', () => {
  const comparison = comparePaired(toCases([1, 0], 'a'), toCases([1, 0], 'b'), { alpha });
  expect(comparison).toMatchObject({ cases: 0, difference: null, p: null, method: null, isSeparated: false });
  expect(toPairedIntervals([], { seed: 1 })).toEqual({ main: null, bootstrap: null });
});

test('a case of weight 0 is no pair, and a heavier one makes the difference graded', () => {
  const [first, second, third] = toCases([1, 0, 1]);
  const weighted = [first!, { ...second!, weight: 0 }, { ...third!, weight: 2 }];
  expect(comparePaired(weighted, toCases([0, 0, 0]), { alpha })).toMatchObject({
    cases: 2,
    method: 'permutation',
    difference: 1,
  });
});

test("Newcombe's interval is the one that Fagerland et al. (2014) print for their example", () => {
  const interval = toNewcombeInterval({ both: 1, first: 1, second: 7, neither: 12 });
  expect(interval?.low).toBeCloseTo(-0.507, 3);
  expect(interval?.high).toBeCloseTo(-0.026, 3);
  expect(toNewcombeInterval({ both: 0, first: 0, second: 0, neither: 0 })).toBeNull();
});

test("Newcombe's interval holds the difference, stays in -1..1 and turns with the pair", () => {
  const count = fc.integer({ min: 0, max: 40 });
  fc.assert(
    fc.property(fc.record({ both: count, first: count, second: count, neither: count }), (counts) => {
      const pairs = counts.both + counts.first + counts.second + counts.neither;
      fc.pre(pairs > 0);
      const { low, high } = toNewcombeInterval(counts)!;
      const difference = (counts.first - counts.second) / pairs;
      expect(low).toBeLessThanOrEqual(difference + 1e-12);
      expect(high).toBeGreaterThanOrEqual(difference - 1e-12);
      expect(low).toBeGreaterThanOrEqual(-1 - 1e-12);
      expect(high).toBeLessThanOrEqual(1 + 1e-12);
      const turned = toNewcombeInterval({ ...counts, first: counts.second, second: counts.first })!;
      expect(turned.low).toBeCloseTo(-high, 10);
    }),
  );
});

test("the number of cases that would settle a margin equals statsmodels' sample size", () => {
  for (const { needed, ...facts } of reference.sampleSize) {
    expect(Math.abs(toSampleSize(facts) / needed - 1)).toBeLessThan(1e-9);
  }
  const comparison = comparePaired(
    toCases([1, 1, 0, 1, 0, 1, 1, 0, 0.5, 1]),
    toCases([1, 0, 0.5, 1, 0, 1, 0, 0, 0.5, 1]),
    { alpha },
  );
  // By hand: ((1.95996 + 0.84162) x 0.47434 / 0.15)^2 = 78.5
  expect(countCasesNeeded(comparison, alpha)).toBe(79);
  const equal = comparePaired(toCases([1, 0]), toCases([1, 0]), { alpha });
  expect(countCasesNeeded(equal, alpha)).toBeNull();
});
