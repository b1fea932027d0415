import { z } from 'zod';
import { noteSchema } from './report-schema.ts';

const count = z.int().min(0);
const nullableText = z.string().nullable();

const sideSchema = z.strictObject({
  runId: z.string(),
  requestName: z.string(),
  modelId: z.string(),
  mean: z.number().nullable().describe('Over the shared cases.'),
  attemptCostUsd: z
    .number()
    .nullable()
    .describe('Mean of a scored attempt on the shared cases; null = not known.'),
  latencyP50Ms: z.number().nullable(),
});

export const pairedIntervalSchema = z.strictObject({
  low: z.number(),
  high: z.number(),
  level: z.number(),
  method: z.enum(['newcombe', 't', 'bootstrap']),
});

export const caseChangeSchema = z.strictObject({
  caseId: z.string(),
  kind: z
    .enum(['broken', 'lower', 'higher', 'fixed'])
    .describe(
      'broken: it passes less often. fixed: more often. lower, higher: another score, passes the same.',
    ),
  first: z.number().describe('Mean of the attempts.'),
  second: z.number(),
  explanation: nullableText.describe('Why an attempt of the second did not pass.'),
});

export const comparedPairSchema = z.strictObject({
  first: sideSchema,
  second: sideSchema,
  cases: count.describe('Cases with a value on both sides and a weight above 0.'),
  clusters: count,
  onlyFirst: count.describe('Cases with a value in the first alone: left out.'),
  onlySecond: count,
  difference: z.number().nullable().describe('Second minus first: above 0 = the second is better.'),
  interval: pairedIntervalSchema.nullable().describe('Null without spread or with one cluster.'),
  bootstrap: pairedIntervalSchema
    .nullable()
    .describe('Of graded values: percentile bootstrap over clusters.'),
  method: z.enum(['mcnemar', 'permutation']).nullable(),
  p: z.number().nullable().describe('Two-sided.'),
  adjustedP: z.number().nullable().describe('By Holm, over the pairs of this comparison.'),
  better: count.describe('Cases in which the second has more.'),
  worse: count,
  equal: count,
  verdict: z
    .enum(['better', 'worse', 'not_separated', 'nothing_shared'])
    .describe('Of the second, at the level alpha after the adjustment, with at least six clusters.'),
  casesNeeded: count.nullable().describe('About how many would settle a difference of this size.'),
  changes: z
    .array(caseChangeSchema)
    .describe('Broken first, the largest first within each; at most a thousand.'),
  changeCount: count,
});

export const comparisonSchema = z
  .strictObject({
    format: z.literal('assay-comparison'),
    version: z.literal(1),
    alpha: z.number(),
    pairs: z.array(comparedPairSchema),
    notes: z.array(noteSchema),
  })
  .describe('Paired comparison of runs, or of the models of one run, case by case.');

export type Comparison = z.infer<typeof comparisonSchema>;
export type ComparedPair = z.infer<typeof comparedPairSchema>;
export type CaseChange = z.infer<typeof caseChangeSchema>;

/** JSON Schema (draft 2020-12) of a comparison, as kept in `schemas/comparison.schema.json`. */
export const toComparisonJsonSchema = (): object => z.toJSONSchema(comparisonSchema);
