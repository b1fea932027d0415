import { z } from 'zod';
import { OUTCOME_KINDS } from '../domain/outcome.ts';
import { METRICS } from '../domain/ranking-rule.ts';
import { figuresSchema, intervalSchema, judgingSchema, usageSchema } from './figure-schema.ts';

const count = z.int().min(0);
const nullableText = z.string().nullable();

export const tagFiguresSchema = z.strictObject({
  tag: z.string(),
  mean: z.number().nullable(),
  interval: intervalSchema.nullable(),
  cases: count.describe('Cases with a value and a weight above 0.'),
  scored: count.describe('Cells with a score.'),
  planned: count,
});

const metric = z.enum(METRICS);

export const compositeSchema = z
  .strictObject({
    value: z.number(),
    parts: z.array(
      z.strictObject({
        metric,
        share: z.number().describe('Weight as a share of all weights.'),
        value: z
          .number()
          .describe('On the shared cases: a share, US dollars of an attempt, or milliseconds.'),
        normalised: z.number().describe('Accuracy as it is; of the others the best value / this one.'),
      }),
    ),
  })
  .describe('Weighted sum that decides the rank; null when accuracy alone does.');

export const boardRowSchema = z.strictObject({
  modelId: z.string(),
  model: z.string(),
  providerId: z.string(),
  status: z
    .enum(['ranked', 'unranked', 'disqualified', 'no_data'])
    .describe(
      'unranked: too few cases to be compared, or a weighed figure is not known. disqualified: a constraint of the ranking is not kept. no_data: nothing was scored.',
    ),
  noDataReason: nullableText,
  disqualified: z.array(z.string()).describe('Constraints that it does not keep.'),
  rank: count.nullable().describe('1 = best; models of one band share it.'),
  band: count.nullable().describe('Models that the paired comparison cannot separate share one.'),
  sharedMean: z.number().nullable().describe('Mean over the cases that every ranked model has.'),
  composite: compositeSchema.nullable(),
  attemptCostUsd: z
    .number()
    .min(0)
    .nullable()
    .describe(
      'Mean cost of a scored attempt, of ranked models on the shared cases; null when one is not known.',
    ),
  onFront: z
    .boolean()
    .describe('Whether no ranked model is both as good and as cheap and better in one of the two.'),
  tags: z.array(tagFiguresSchema),
  figures: figuresSchema,
});

export const noteSchema = z.strictObject({
  code: z.string().describe('Stable word for programs, such as coverage, unpriced, margin.'),
  requestName: nullableText,
  modelId: nullableText,
  text: z.string(),
});

export const boardSchema = z.strictObject({
  requestName: z.string(),
  suiteName: z.string(),
  suiteVersion: nullableText,
  suiteDigest: z.string(),
  cases: count,
  harness: z.string(),
  environment: z.string(),
  attempts: z.strictObject({ k: count, strategy: z.enum(['avg', 'pass']) }),
  failure: nullableText,
  planned: count,
  recorded: count,
  sharedCases: count.describe('Cases that every ranked model has: only they decide ranks.'),
  alpha: z.number().describe('Level of each comparison behind the bands.'),
  weights: z
    .partialRecord(metric, z.number().min(0))
    .describe('What the ranking weighs, as declared or asked for; empty = accuracy alone.'),
  rows: z.array(boardRowSchema).describe('Best first; then unranked, then no_data.'),
  notes: z.array(noteSchema),
});

export const failureSchema = z
  .strictObject({
    requestName: nullableText.describe('Null for a skipped model: it is skipped everywhere.'),
    modelId: z.string(),
    outcome: z.enum(['wrong', 'unrecorded', ...OUTCOME_KINDS.filter((kind) => kind !== 'scored')]),
    code: nullableText.describe('Of the reason; of a wrong answer the kind of the scorer that failed it.'),
    phase: nullableText,
    message: z.string(),
    cells: count,
    examples: z
      .array(z.strictObject({ task: count, caseId: z.string(), attempt: count, generation: count }))
      .describe('The first few of the cells.'),
    answerPreview: nullableText,
  })
  .describe('Cells that failed for one reason; wrong answers are grouped by case.');

export const gateFailureSchema = z.strictObject({
  gate: z.enum(['minCoverage', 'minPassRate', 'minMean', 'maxUnscoredRate', 'requireModels']),
  requestName: z.string(),
  modelId: z.string(),
  limit: z.number().nullable(),
  measured: z.number().nullable(),
  message: z.string(),
});

const reuseSchema = z
  .strictObject({
    runId: z.string(),
    allowMismatch: z.boolean(),
    scored: count.describe('Scored cells of the other run when it was looked at.'),
    taken: count.describe('Cells taken with their scores.'),
    graded: count.describe('Cells of which the answer was taken, and graded again.'),
    mismatched: count.describe('Of both, those whose fingerprints differ.'),
    refused: count.describe('Cells of equal names that were not taken, because their fingerprints differ.'),
    differences: z
      .array(z.strictObject({ field: z.string(), before: nullableText, after: nullableText, cells: count }))
      .readonly(),
  })
  .describe('What was taken from another run; its calls and costs are counted there.');

export const reportSchema = z
  .strictObject({
    format: z.literal('assay-report'),
    version: z.literal(1),
    run: z.strictObject({
      runId: z.string(),
      name: z.string(),
      state: z.string(),
      reason: nullableText,
      createdAt: z.string(),
      startedAt: nullableText,
      finishedAt: nullableText,
      generation: count,
      seed: z.number(),
      scoreVersion: count.describe('How often its answers were graded.'),
      scoredBy: z
        .array(z.string())
        .readonly()
        .nullable()
        .describe('Scorers of all cases in the latest version; null = those of the suites and cases.'),
      reuse: reuseSchema.nullable(),
      context: z
        .record(z.string(), z.unknown())
        .exactOptional()
        .describe('`context` of the run file; absent where it says none.'),
      planned: count,
      recorded: count,
      scored: count,
      complete: z.boolean().describe('Whether the run completed and every planned cell has a score.'),
    }),
    statement: z.string().describe('What the state of the run means, in words.'),
    next: z.string().describe('The next command to type.'),
    totals: z.strictObject({
      costUsd: z.number().min(0).nullable(),
      knownCostUsd: z.number().min(0).describe('Sum of the costs that are known.'),
      unpricedCells: count,
      usage: usageSchema,
      wastedUsage: usageSchema,
      calls: count,
      judging: judgingSchema.exactOptional(),
    }),
    boards: z.array(boardSchema).describe('One leaderboard for each request, in declaration order.'),
    failures: z.array(failureSchema).describe('Faults first, then wrong answers; at most a thousand.'),
    failureCount: count.describe('All groups of failures, those beyond the list included.'),
    gateFailures: z.array(gateFailureSchema).describe('Gates of the run that were not met.'),
    notes: z.array(noteSchema).describe('About the run as a whole.'),
  })
  .describe('Report of an Assay run. Counts are of cells: one attempt of one case for one model.');

export type Report = z.infer<typeof reportSchema>;
export type Board = z.infer<typeof boardSchema>;
export type TagFigures = z.infer<typeof tagFiguresSchema>;
export type BoardRow = z.infer<typeof boardRowSchema>;
export type Note = z.infer<typeof noteSchema>;
export type Failure = z.infer<typeof failureSchema>;

/** JSON Schema (draft 2020-12) of the report, as kept in `schemas/report.schema.json`. */
export const toReportJsonSchema = (): object => z.toJSONSchema(reportSchema);
