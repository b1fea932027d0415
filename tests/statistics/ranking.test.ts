import { expect, test } from 'vitest';
import { comparePaired, countCasesNeeded, toBinomialP } from '../../src/statistics/paired.ts';
import { rankModels } from '../../src/statistics/ranking.ts';
import { reference, toCases } from './support.ts';

const repeat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

test("the exact p-value equals statsmodels' McNemar test", () => {
  for (const { wins, losses, p } of reference.mcnemar) expect(toBinomialP(wins, losses)).toBeCloseTo(p, 12);
});

test('a clean sweep of six binary cases separates, of five does not', () => {
  const sweep = (count: number) => comparePaired(toCases(repeat(1, count)), toCases(repeat(0, count)), 0.05);
  expect(sweep(6)).toMatchObject({ method: 'mcnemar', isSeparated: true, wins: 6, losses: 0, ties: 0 });
  expect(sweep(5)).toMatchObject({ method: 'too_few', isSeparated: false });
});

test('a constant lead without spread is tested by its sign, not by a t interval of width 0', () => {
  const lead = comparePaired(toCases(repeat(0.6, 6)), toCases(repeat(0.5, 6)), 0.01);
  expect(lead).toMatchObject({ method: 'sign', isSeparated: false });
  expect(comparePaired(toCases(repeat(0.6, 9)), toCases(repeat(0.5, 9)), 0.01).isSeparated).toBe(true);
  expect(comparePaired(toCases(repeat(0.5, 9)), toCases(repeat(0.5, 9)), 0.05).isSeparated).toBe(false);
});

test('graded scores are compared by a paired t interval, on shared cases only', () => {
  const base = Array.from({ length: 20 }, (_, index) => 0.3 + (index % 5) / 10);
  const better = base.map((value, index) => value + 0.1 + (index % 3) / 100);
  const comparison = comparePaired(toCases(better), toCases(base.slice(0, 12)), 0.05);
  expect(comparison).toMatchObject({ method: 't', cases: 12, isSeparated: true });
});

test('cases of one cluster do not multiply the evidence', () => {
  const clustered = (values: number[]) =>
    toCases(values).map((item) => ({ ...item, cluster: 'one passage' }));
  const comparison = comparePaired(clustered(repeat(1, 40)), clustered(repeat(0, 40)), 0.05);
  expect(comparison).toMatchObject({ clusters: 1, method: 'too_few', isSeparated: false });
});

test('the number of cases that would settle a margin follows from its spread', () => {
  const comparison = comparePaired(
    toCases([1, 1, 0, 1, 0, 1, 1, 0, 0.5, 1]),
    toCases([1, 0, 0.5, 1, 0, 1, 0, 0, 0.5, 1]),
    0.05,
  );
  const needed = countCasesNeeded(comparison, 0.05);
  // By hand: ((1.95996 + 0.84162) x 0.47434 / 0.15)^2 = 78.5
  expect(needed).toBe(79);
  expect(countCasesNeeded(comparePaired(toCases([1, 0]), toCases([1, 0]), 0.05), 0.05)).toBeNull();
});

test('models that cannot be separated from the first of a band share it', () => {
  const ranking = rankModels([
    { modelId: 'bad', values: toCases([...repeat(0, 20), 1]) },
    { modelId: 'good', values: toCases([...repeat(1, 20), 0]) },
    { modelId: 'fair', values: toCases([...repeat(1, 18), 0, 0, 1]) },
    { modelId: 'also bad', values: toCases([...repeat(0, 20), 0]) },
  ]);
  expect(ranking.ranked.map(({ modelId, rank, band }) => [modelId, rank, band])).toEqual([
    ['good', 1, 1],
    ['fair', 1, 1],
    ['bad', 3, 2],
    ['also bad', 3, 2],
  ]);
  expect(ranking).toMatchObject({ sharedCases: 21, unranked: [], alpha: 0.05 / 3 });
});

test('a tie keeps the given order and the same input gives the same ranking', () => {
  const entries = ['b', 'a', 'c'].map((modelId) => ({ modelId, values: toCases([1, 0, 1]) }));
  const ranking = rankModels(entries);
  expect(ranking.ranked.map((model) => [model.modelId, model.rank])).toEqual([
    ['b', 1],
    ['a', 1],
    ['c', 1],
  ]);
  expect(rankModels(entries)).toEqual(ranking);
});

test('partial models are compared on shared cases, those with under half of the cases are not ranked', () => {
  const easyHalf = toCases([1, 1, 1, 1, 1, 0.9]);
  const ranking = rankModels([
    { modelId: 'partial', values: easyHalf },
    { modelId: 'whole', values: toCases([1, 1, 1, 1, 1, 1, 0, 0, 0, 0]) },
    { modelId: 'stub', values: toCases([1, 1]) },
    { modelId: 'none', values: [] },
  ]);
  expect(ranking.ranked.map((model) => model.modelId)).toEqual(['whole', 'partial']);
  expect(ranking).toMatchObject({ sharedCases: 6, unranked: ['stub', 'none'] });
  expect(rankModels([])).toMatchObject({ ranked: [], sharedCases: 0, topTwo: null });
});
