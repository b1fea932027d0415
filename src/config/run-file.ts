import * as z from 'zod';
import { artifactsSchema } from './artifacts-schema.ts';
import { environmentSchema } from './environment-schema.ts';
import { harnessSchema } from './harness-schema.ts';
import {
  amount,
  attemptLimits,
  count,
  countOrZero,
  duration,
  inlineSuite,
  jsonObject,
  jsonValue,
  name,
  object,
  positiveDuration,
  rate,
  variableName,
} from './shapes.ts';

/** Built-in kinds; plug-ins add their own. */
const PROVIDER_KINDS = ['openai-compatible', 'mock', 'openai', 'anthropic', 'google'] as const;

const concurrency = z
  .union([z.literal('auto'), count])
  .describe('Calls in flight per worker; auto = as many as the provider bears, 20 at first, at most 100.');

const price = object({
  input: amount,
  output: amount,
  cacheRead: amount.nullable().optional(),
  cacheWrite: amount.nullable().optional(),
}).describe('USD per million tokens.');

export const modelSchema = object({
  id: name.optional().describe('Unique in the run; what reports show. "provider:model" unless given.'),
  provider: name.describe(
    'The id of a provider of this file, or a kind that needs no more: openai, anthropic, google, mock.',
  ),
  model: name.describe('The name that the provider knows.'),
  params: jsonObject.optional().describe('Sent with every call: temperature, maxOutputTokens, seed ...'),
  price: price
    .nullable()
    .optional()
    .describe("USD per million tokens; from Assay's price table unless given, where it knows the model."),
});

export const modelEntrySchema = z.union([
  z
    .string()
    .regex(/^[^:]+:[\s\S]+$/, { error: 'must be "provider:model", such as "mock:oracle"' })
    .describe('Short form "provider:model".'),
  modelSchema,
]);

export const providerSchema = object({
  id: name,
  kind: z.string().describe(`One of ${PROVIDER_KINDS.join(', ')}, or a plug-in's.`),
  baseUrl: name.optional().describe('Address of the API, such as http://127.0.0.1:8080/v1.'),
  apiKeyEnv: variableName
    .nullable()
    .optional()
    .describe('Name of the environment variable that holds the key; null = none is sent.'),
  limits: object({
    concurrency: concurrency.default('auto'),
    requestsPerMinute: count.nullable().optional().describe('Of all workers and runs together.'),
    tokensPerMinute: count
      .nullable()
      .optional()
      .describe('Input and output, of all workers and runs together.'),
  }).prefault({}),
  retry: object({
    max: z.int().min(0).max(100).default(4),
    base: duration.prefault('1s'),
  }).prefault({}),
  stream: z.boolean().default(false),
  timeouts: object({
    connect: positiveDuration.prefault('10s'),
    firstByte: positiveDuration.prefault('10m'),
    idle: positiveDuration.prefault('2m'),
  }).prefault({}),
});

const evaluationMode = z.enum(['reuse', 'none', 'fresh']);

/** What one request may say; the same keys may stand at the top of a file without `requests`. */
const requestShape = {
  suite: z
    .union([name, inlineSuite])
    .describe(
      'Path of a suite file or of a .jsonl, .json, .csv or .yaml list of cases; or a suite in place.',
    ),
  harness: harnessSchema.prefault('direct'),
  environment: environmentSchema.prefault('none'),
  evaluation: z
    .union([evaluationMode, object({ environment: evaluationMode.default('reuse') })])
    .prefault('reuse'),
  artifacts: artifactsSchema.optional(),
  attempts: object({
    k: count.max(1_000).default(1),
    strategy: z.enum(['avg', 'pass']).default('avg'),
  }).prefault({}),
  retries: object({
    max: z.int().min(0).max(100).default(0),
    patterns: z.array(z.string()).nullable().default(null),
  }).prefault({}),
  limits: attemptLimits.prefault({}),
  order: z.enum(['case', 'model']).default('case'),
};

export const requestSchema = object({
  name: name.optional().describe('Unique in the run. The name of its suite file unless given.'),
  ...requestShape,
  models: z.array(name).min(1).optional().describe('Ids of models; all unless given.'),
});

/** Keys that make up the one request of a file without `requests`. */
export const REQUEST_KEYS = Object.keys(requestShape);

export const executionSchema = object({
  taskConcurrency: count.max(100_000).default(32).describe('Running attempts of the run.'),
  timeout: positiveDuration.nullable().default(null),
  cleanupGrace: duration.prefault('30s'),
  failFast: z.boolean().default(false),
  seed: z
    .int()
    .min(0)
    .max(2 ** 32 - 1)
    .optional()
    .describe('Drawn and recorded unless given.'),
  packing: z.enum(['auto', 'off']).default('auto'),
});

export const budgetsSchema = object({
  maxRunUsd: amount.nullable().default(null),
  maxModelUsd: amount.nullable().default(null),
  maxRunTokens: countOrZero.nullable().default(null),
  confirmAboveUsd: amount
    .nullable()
    .default(null)
    .describe('Above this estimate the run waits for approval.'),
  approvalExpiry: positiveDuration
    .prefault('24h')
    .describe('A run that nobody approves ends as cancelled after this time.'),
  onExceed: z.enum(['stop', 'warn']).default('stop'),
  allowUnpriced: z.boolean().default(false),
});

export const gatesSchema = object({
  minCoverage: rate.nullable().default(null),
  minPassRate: rate.nullable().default(null),
  minMean: rate.nullable().default(null),
  maxUnscoredRate: rate.nullable().default(null),
  requireModels: z.boolean().default(false),
  baseline: name.nullable().optional(),
});

const judgeEntrySchema = object({
  id: name.optional().describe('What scorers and reports call it; `model` unless given.'),
  model: name.describe('The id of a model of this file, or "provider:model".'),
  params: jsonObject.optional().describe('Sent with every call, over those of the model.'),
  price: price.nullable().optional().describe('USD per million tokens; as for models unless given.'),
});

export const judgeSchema = z
  .union([judgeEntrySchema, z.array(judgeEntrySchema).min(1)])
  .describe('The models that scorers of kind `judge` ask: one, or several that vote.');

export const rankingSchema = object({
  weights: object({
    accuracy: amount.exactOptional(),
    cost: amount.exactOptional(),
    latencyP50: amount.exactOptional(),
    latencyP95: amount.exactOptional(),
  }).optional(),
  constraints: object({
    minAccuracy: rate.optional(),
    maxErrorRate: rate.optional(),
    maxCostUsd: amount.optional().describe('Mean of an attempt.'),
    maxLatencyP95: positiveDuration.optional(),
  }).optional(),
});

/** A whole run file. */
export const runFileSchema = object({
  $schema: z.string().optional(),
  name: name.optional().describe('The name of the file unless given.'),
  models: z.array(modelEntrySchema).min(1),
  providers: z.array(providerSchema).optional(),
  requests: z.array(requestSchema).min(1).optional(),
  suite: requestShape.suite.optional(),
  harness: harnessSchema.optional(),
  environment: environmentSchema.optional(),
  evaluation: requestShape.evaluation.optional(),
  artifacts: artifactsSchema.optional(),
  attempts: requestShape.attempts.optional(),
  retries: requestShape.retries.optional(),
  limits: attemptLimits.optional(),
  order: requestShape.order.optional(),
  execution: executionSchema.optional(),
  budgets: budgetsSchema.optional(),
  judge: judgeSchema.optional(),
  ranking: rankingSchema.optional(),
  gates: gatesSchema.optional(),
  context: z
    .record(z.string(), jsonValue)
    .optional()
    .describe('Visible to every activity, scorer and report.'),
});

/** The outermost level alone: which keys there are, and that lists are lists. */
export const runFileTopSchema = object({
  ...Object.fromEntries(Object.keys(runFileSchema.shape).map((key) => [key, z.unknown().optional()])),
  $schema: z.string().optional(),
  name: name.optional(),
  models: z.array(z.unknown()).min(1),
  providers: z.array(z.unknown()).optional(),
  requests: z.array(z.unknown()).min(1).optional(),
  context: jsonObject.optional(),
});

export type ModelEntry = z.output<typeof modelEntrySchema>;
export type ProviderEntry = z.output<typeof providerSchema>;
export type JudgeEntry = z.output<typeof judgeEntrySchema>;
export type RequestEntry = z.output<typeof requestSchema>;
