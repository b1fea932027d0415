import * as z from 'zod';
import { harnessSpecSchema, toolPolicy } from './document-harness.ts';
import type { RunSpec } from '../domain/run.ts';
import type { ScorerSpec, Suite, SuiteCase } from '../domain/suite.ts';
import { jsonObject, jsonValue } from './shapes.ts';

/** Shapes of domain values that come back from outside, as strict as the types say. */
const limits = z.strictObject({
  attemptTimeMs: z.number().nullable(),
  attemptTokens: z.number().nullable(),
  attemptCostUsd: z.number().nullable(),
  modelCallTimeMs: z.number().nullable(),
});

export const scorerSpecSchema: z.ZodType<ScorerSpec> = z.strictObject({
  kind: z.string(),
  name: z.string(),
  weight: z.number().min(0),
  threshold: z.number(),
  required: z.boolean(),
  not: z.boolean().exactOptional(),
  options: jsonObject,
});

const targetValue = z.union([z.string(), z.number(), z.boolean(), jsonObject]);

const role = z.enum(['system', 'user', 'assistant']);

export const suiteCaseSchema: z.ZodType<SuiteCase> = z.strictObject({
  testCase: z.strictObject({
    id: z.string().min(1),
    input: z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('text'), text: z.string() }),
      z.strictObject({
        kind: z.literal('messages'),
        messages: z.array(z.strictObject({ role, text: z.string() })).min(1),
      }),
    ]),
    system: z.string().nullable(),
    choices: z.array(z.string()).nullable(),
    tags: z.array(z.string()),
    weight: z.number().min(0),
    cluster: z.string().nullable(),
    files: z.record(z.string(), z.string()),
    setup: z.string().nullable(),
    scorers: z.array(scorerSpecSchema).nullable(),
    limits: limits.nullable(),
    metadata: jsonObject,
  }),
  target: z.strictObject({ values: z.array(targetValue).min(1) }).nullable(),
});

export const suiteHeadSchema: z.ZodType<Omit<Suite, 'cases'>> = z.strictObject({
  name: z.string(),
  version: z.string().nullable(),
  scorers: z.array(scorerSpecSchema),
});

const provider = z.strictObject({
  id: z.string(),
  kind: z.string(),
  baseUrl: z.string().nullable(),
  apiKeyEnv: z.string().nullable(),
  concurrency: z.union([z.number(), z.literal('auto')]),
  requestsPerMinute: z.number().nullable(),
  tokensPerMinute: z.number().nullable(),
  retry: z.strictObject({ max: z.number(), baseMs: z.number() }),
  stream: z.boolean(),
  timeouts: z.strictObject({ connectMs: z.number(), firstByteMs: z.number(), idleMs: z.number() }),
});

const rates = z.strictObject({
  input: z.number(),
  output: z.number(),
  cacheRead: z.number().nullable(),
  cacheWrite: z.number().nullable(),
});

const price = rates.extend({
  long: z.strictObject({ aboveInputTokens: z.number(), rates: rates.nullable() }).exactOptional(),
});

const model = z.strictObject({
  id: z.string(),
  providerId: z.string(),
  model: z.string(),
  params: jsonObject,
  price: price.nullable(),
  card: z
    .strictObject({
      model: z.string(),
      date: z.string(),
      source: z.string(),
      also: z.array(z.string()),
      vendor: z.boolean(),
      priced: z.boolean(),
    })
    .exactOptional(),
  outputLimit: z.int().positive().exactOptional(),
});

const policy = z.discriminatedUnion('mode', [
  z.strictObject({ mode: z.enum(['public', 'none']) }),
  z.strictObject({ mode: z.literal('allowlist'), allow: z.array(z.string()) }),
]);

const request = z.strictObject({
  name: z.string(),
  suiteKey: z.string(),
  modelIds: z.array(z.string()),
  harness: harnessSpecSchema,
  environment: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('none') }),
    z.strictObject({
      kind: z.enum(['host', 'bubblewrap', 'docker']),
      variables: z.record(z.string(), z.string()),
      image: z.string().nullable(),
      network: z.strictObject({ baseline: policy, run: policy, evaluation: policy }),
      resources: z.strictObject({
        cpus: z.number().nullable(),
        memoryBytes: z.number().nullable(),
        reservedMemoryBytes: z.number().nullable(),
        pids: z.number().nullable(),
        diskBytes: z.number().nullable(),
      }),
      keepMs: z.number().nullable(),
    }),
  ]),
  evaluation: z.enum(['reuse', 'none', 'fresh']),
  artifacts: z
    .strictObject({ paths: z.array(z.string()), maxFiles: z.number(), maxBytes: z.number() })
    .exactOptional(),
  attempts: z.strictObject({ k: z.int().min(1), strategy: z.enum(['avg', 'pass']) }),
  retries: z.strictObject({ max: z.number(), patterns: z.array(z.string()).nullable() }),
  limits,
  order: z.enum(['case', 'model']),
});

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const runModule = z.strictObject({
  digest,
  exportName: z.string(),
  path: z.string(),
  projectDir: z.string(),
  tools: z.array(
    z.strictObject({
      schema: z.strictObject({ name: z.string(), description: z.string(), parameters: jsonValue }),
      policy: toolPolicy,
    }),
  ),
  scorers: z.array(
    z.strictObject({
      name: z.string(),
      needsTarget: z.boolean(),
      timeoutMs: z.number(),
      options: jsonObject.nullable(),
    }),
  ),
  providers: z.array(
    z.strictObject({
      kind: z.string(),
      baseUrl: z.string().nullable(),
      apiKeyEnv: z.string().nullable(),
      params: jsonObject.nullable(),
      checksHealth: z.boolean(),
    }),
  ),
});

export const runSpecSchema: z.ZodType<RunSpec> = z.strictObject({
  name: z.string(),
  models: z.array(model).min(1),
  providers: z.array(provider).min(1),
  requests: z.array(request).min(1),
  execution: z.strictObject({
    taskConcurrency: z.int().min(1),
    timeoutMs: z.number().nullable(),
    cleanupGraceMs: z.number(),
    failFast: z.boolean(),
    seed: z.number(),
    packing: z.enum(['auto', 'off']),
  }),
  budgets: z.strictObject({
    maxRunUsd: z.number().nullable(),
    maxModelUsd: z.number().nullable(),
    maxRunTokens: z.number().nullable(),
    confirmAboveUsd: z.number().nullable(),
    approvalExpiryMs: z.number(),
    onExceed: z.enum(['stop', 'warn']),
    allowUnpriced: z.boolean(),
  }),
  gates: z.strictObject({
    minCoverage: z.number().nullable(),
    minPassRate: z.number().nullable(),
    minMean: z.number().nullable(),
    maxUnscoredRate: z.number().nullable(),
    requireModels: z.boolean(),
  }),
  ranking: z
    .strictObject({
      weights: z.strictObject({
        accuracy: z.number().min(0).exactOptional(),
        cost: z.number().min(0).exactOptional(),
        latencyP50: z.number().min(0).exactOptional(),
        latencyP95: z.number().min(0).exactOptional(),
      }),
      constraints: z.strictObject({
        minAccuracy: z.number().nullable(),
        maxErrorRate: z.number().nullable(),
        maxCostUsd: z.number().nullable(),
        maxLatencyP95Ms: z.number().nullable(),
      }),
    })
    .exactOptional(),
  context: jsonObject,
  judges: z.array(model).min(1).exactOptional(),
  module: runModule.exactOptional(),
});

export const runDocumentSchema = z.strictObject({
  format: z.literal(1),
  spec: runSpecSchema,
  suites: z.record(z.string(), digest),
  files: z.array(digest),
  seedDrawn: z.boolean(),
  warnings: z.array(z.string()),
});
