import { expect, test } from 'vitest';
import { rankModels } from '../../src/statistics/ranking.ts';
import { toCases } from './support.ts';

const repeat = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

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
