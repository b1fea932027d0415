import { expect, test } from 'vitest';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCrowdedRun } from './crowded-run.ts';

const report = summarize(buildCrowdedRun());
const [board] = report.boards;
const rowOf = (modelId: string) => board?.rows.find((row) => row.modelId === modelId);

/**
 * Worked out beside the program, from the formulas alone: t quantiles by Simpson's rule over the density, Wilson's
 * interval with z = 1.959964, percentiles of type 7.
 */
const BY_HAND: readonly (readonly [string, object])[] = [
  [
    'openai:gpt-5-mini',
    {
      mean: 11 / 12,
      error: 1 / 12,
      interval: [0.733251, 1],
      pass: [0.64612, 0.985135],
      shared: 8 / 9,
      p95Ms: 1_348.5,
      costUsd: 0.048,
    },
  ],
  [
    'anthropic:claude-with-a-very-long-name-2025-10-01',
    // Two cases at one half, nine at 1; the pass rate counts 9 of 11 cases, of its 21 attempts 17.
    {
      mean: 10 / 11,
      error: 0.060984,
      interval: [0.773211, 1],
      pass: [0.523019, 0.948632],
      shared: 1,
      p95Ms: 2_509,
      costUsd: 0.276,
    },
  ],
  [
    'weak',
    {
      mean: 1 / 11,
      error: 0.060984,
      interval: [0, 0.226789],
      pass: [0.016232, 0.377358],
      shared: 1 / 9,
      p95Ms: 409.5,
      costUsd: 0.0088,
    },
  ],
  [
    'local:qwen',
    {
      mean: 0.625,
      error: 0.125,
      interval: [0.34223, 0.90777],
      pass: [0.236593, 0.763407],
      shared: 2 / 3,
      p95Ms: 4_110,
      costUsd: null,
    },
  ],
  [
    'brittle',
    // Wilson's 9 of 9, because every case has 1.
    {
      mean: 1,
      error: 0,
      interval: [0.700855, 1],
      pass: [0.700855, 1],
      shared: null,
      p95Ms: 1_010,
      costUsd: 0.054,
    },
  ],
];

const round = (value: number | null | undefined): number | null | undefined =>
  value == null ? value : Number(value.toFixed(6));

test.each(BY_HAND)('the figures of %s are those that were worked out by hand', (modelId, byHand) => {
  const row = rowOf(modelId);
  const { mean, passRate, latency, costUsd } = row?.figures ?? {};
  expect({
    mean: round(mean?.value),
    error: round(mean?.standardError),
    interval: [round(mean?.interval?.low), round(mean?.interval?.high)],
    pass: [round(passRate?.interval?.low), round(passRate?.interval?.high)],
    shared: round(row?.sharedMean),
    p95Ms: latency?.p95Ms,
    costUsd: round(costUsd),
  }).toEqual(
    Object.fromEntries(
      Object.entries(byHand).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value]),
    ),
  );
});

test('ranks, bands and totals of a crowded run are those that were worked out by hand', () => {
  // Five models take part: level 5 % / 4. The first differs from qwen in four cases of 0.75: p = 2 / 2^4; from weak in
  // all nine cases: p = 2 / 2^9.
  expect(board).toMatchObject({ alpha: 0.0125, sharedCases: 9 });
  expect(board?.rows.map(({ modelId, status, rank }) => [modelId.slice(0, 9), status, rank])).toEqual([
    ['anthropic', 'ranked', 1],
    ['openai:gp', 'ranked', 1],
    ['twin', 'ranked', 1],
    ['local:qwe', 'ranked', 1],
    ['weak', 'ranked', 5],
    ['stopped', 'unranked', null],
    ['brittle', 'disqualified', null],
    ['ghost', 'no_data', null],
  ]);
  expect(rowOf('brittle')?.disqualified).toEqual(['error rate 0.25, at most 0.2 is required']);
  // 24 x 0.002 + 23 x 0.012 + 24 x 0.001 + 22 x 0.0004 + 18 x 0.003 + 6 x 0.08, and what qwen cost is not known.
  expect(report.totals).toMatchObject({ costUsd: null, unpricedCells: 20 });
  expect(report.totals.knownCostUsd).toBeCloseTo(0.8908, 9);
  const { inputTokens, outputTokens } = report.totals.usage;
  expect((inputTokens ?? 0) + (outputTokens ?? 0)).toBe(18_352);
});
