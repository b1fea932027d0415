import { z } from 'zod';
import { OUTCOME_KINDS } from '../domain/outcome.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const tokens = count.nullable();

export const intervalSchema = z
  .strictObject({ low: share, high: share, level: share })
  .describe('Two-sided confidence interval, cut to 0..1.');

export const meanSchema = z
  .strictObject({
    value: share,
    standardError: z
      .number()
      .min(0)
      .nullable()
      .describe('Clustered by cluster or case; null with one cluster.'),
    interval: intervalSchema.nullable(),
    cases: count.describe('Cases with a value and a weight above 0.'),
    clusters: count,
    attempts: count.describe('Scored attempts behind the value.'),
  })
  .describe('Weighted mean over cases, attempts averaged per case first (strategy pass: the best one).');

export const passRateSchema = z
  .strictObject({
    value: share,
    interval: intervalSchema.nullable().describe("Wilson's, over clusters."),
    cases: count,
    attempts: count,
    passes: count.describe('Attempts that passed.'),
  })
  .describe('Share of attempts that passed, averaged per case first (strategy pass: share of cases solved).');

export const strictMeanSchema = z
  .strictObject({ value: share, cases: count, attempts: count })
  .describe('The mean with every attempt that ended as error counted as 0.');

export const passAtSchema = z.strictObject({
  k: count,
  value: share.nullable().describe('Null when no case has k scored attempts.'),
  cases: count.describe('Cases with at least k scored attempts.'),
  ofCases: count,
});

export const passCurvePointSchema = z.strictObject({
  k: count,
  passAtK: share.nullable(),
  passHatK: share.nullable(),
  cases: count.describe('Cases with at least k scored attempts.'),
});

export const coverageSchema = z.strictObject({
  scored: count.describe('Cells with a score.'),
  planned: count.describe('Cells of the plan.'),
  complete: z.boolean().describe('Whether every planned cell has a score.'),
  scoredCases: count.describe('Cases with a value.'),
  plannedCases: count,
});

const outcomeCounts = Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, count])) as {
  [kind in (typeof OUTCOME_KINDS)[number]]: typeof count;
};

export const outcomesSchema = z
  .strictObject({
    ...outcomeCounts,
    unrecorded: count.describe('Planned and without an outcome.'),
    passed: count.describe('Scored and passed.'),
    wrong: count.describe('Scored and not passed: an answer, not an error.'),
  })
  .describe('Cells by outcome; passed + wrong = scored.');

export const usageSchema = z
  .strictObject({
    inputTokens: tokens,
    outputTokens: tokens,
    reasoningTokens: tokens,
    cacheReadTokens: tokens,
    cacheWriteTokens: tokens,
  })
  .describe('Null where no provider said.');

export const limitsSchema = z
  .strictObject({ steps: count, time: count, tokens: count, cost: count, context: count, output: count })
  .describe('Cells whose agent was ended by a limit and graded all the same.');

export const analysisSchema = z.strictObject({
  analyzer: z.string(),
  cells: count.describe('Cells of which it said something.'),
  failed: count.describe('Cells on which the analyzer itself broke; their scores are as they were.'),
  facts: z
    .record(z.string(), z.strictObject({ total: z.number(), most: z.number() }))
    .describe('Counts and times (...Ms) by name: added up over the cells, and the most in one.'),
});

export const judgingSchema = z
  .strictObject({
    calls: count,
    costUsd: z.number().min(0).nullable().describe('Null when the cost of any call is unknown.'),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
  })
  .describe('What asking judges took; part of no other figure. Absent when none was asked.');

export const figuresSchema = z.strictObject({
  mean: meanSchema.nullable(),
  strictMean: strictMeanSchema.nullable(),
  passRate: passRateSchema.nullable(),
  passAtK: passAtSchema.nullable().describe('Null when k is 1.'),
  passHatK: passAtSchema.nullable().describe('Null when k is 1 or attempts stop at the first pass.'),
  passCurve: z
    .array(passCurvePointSchema)
    .describe('For each k up to the attempts of the plan; empty when k is 1 or strategy is pass.'),
  coverage: coverageSchema,
  outcomes: outcomesSchema,
  costUsd: z.number().min(0).nullable().describe('Null when the cost of any call is unknown.'),
  knownCostUsd: z
    .number()
    .min(0)
    .describe('Sum of the costs that are known; the same as costUsd unless that is null.'),
  unpricedCells: count,
  usage: usageSchema.describe(
    'Every recorded call: retries, discarded tries and earlier generations included; judges apart.',
  ),
  wastedUsage: usageSchema.describe('Part of usage that bought no recorded answer.'),
  latency: z
    .strictObject({
      p50Ms: z.number(),
      p90Ms: z.number(),
      p95Ms: z.number(),
      p99Ms: z.number(),
      cells: count,
    })
    .nullable()
    .describe(
      'Time in model calls of a cell whose agent came to its end (scored or unscored), without waits.',
    ),
  waitMs: z.number().min(0),
  calls: count,
  retriedCalls: count,
  limits: limitsSchema,
  flaky: z
    .strictObject({
      cases: count,
      ofCases: count.describe('Cases with at least two scored attempts.'),
      caseIds: z.array(z.string()).describe('The first twenty.'),
    })
    .describe('Cases that passed in some attempts of this run and not in others.'),
  cutByReasoning: count.describe('Cells cut at the output limit in which reasoning used all of it.'),
  judging: judgingSchema.exactOptional(),
  analyses: z.array(analysisSchema).describe('Facts about how agents worked; they touch no score.'),
});

export type AnalysisFigures = z.infer<typeof analysisSchema>;
export type Figures = z.infer<typeof figuresSchema>;
export type UsageFigures = z.infer<typeof usageSchema>;
