import * as z from 'zod';

/** Policy of a tool, as documents carry it. */
export const toolPolicy = z.strictObject({
  idempotent: z.boolean(),
  timeoutMs: z.number(),
  maxAttempts: z.int().min(1),
  onUnknown: z.enum(['refuse', 'ask', 'rerun', 'skip']),
});

/** What a run file may say of a tool. */
const toolPolicyChange = z.strictObject({
  idempotent: z.boolean().exactOptional(),
  timeoutMs: z.number().exactOptional(),
  maxAttempts: z.int().min(1).exactOptional(),
  onUnknown: toolPolicy.shape.onUnknown.exactOptional(),
});

const mcpServer = z.strictObject({
  name: z.string(),
  transport: z.discriminatedUnion('kind', [
    z.strictObject({
      kind: z.literal('stdio'),
      command: z.string(),
      args: z.array(z.string()),
      variables: z.record(z.string(), z.string()),
      stateful: z.boolean(),
    }),
    z.strictObject({
      kind: z.literal('http'),
      url: z.string(),
      headersEnv: z.record(z.string(), z.string()),
    }),
  ]),
  tools: z.array(z.string()).nullable(),
  policies: z.record(z.string(), toolPolicyChange),
});

const textSource = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('stdout') }),
  z.strictObject({ kind: z.literal('file'), path: z.string() }),
]);
const jsonSourceShape = {
  kind: z.enum(['json_lines', 'json']),
  from: textSource,
  where: z.record(z.string(), z.string()),
};
const figure = z.enum([
  'inputTokens',
  'outputTokens',
  'reasoningTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'costUsd',
]);
const combine = z.enum(['sum', 'last']);

const command = z.strictObject({
  kind: z.literal('command'),
  preset: z.string().nullable(),
  command: z.array(z.string()).min(1),
  prompt: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.enum(['argument', 'stdin']) }),
    z.strictObject({ kind: z.literal('file'), path: z.string() }),
  ]),
  variables: z.record(z.string(), z.string()),
  variablesEnv: z.record(z.string(), z.string()),
  proxy: z.boolean(),
  maxTurns: z.number().nullable(),
  timeoutMs: z.number(),
  usage: z
    .union([
      z.strictObject({
        source: z.strictObject(jsonSourceShape),
        paths: z.partialRecord(figure, z.array(z.string())),
        combine,
      }),
      z.strictObject({
        source: z.strictObject({ kind: z.literal('pattern'), from: textSource }),
        patterns: z.partialRecord(figure, z.string()),
        combine,
      }),
    ])
    .nullable(),
  answer: z.union([textSource, z.strictObject({ ...jsonSourceShape, path: z.string() })]),
});

/** A harness with every default filled in. */
export const harnessSpecSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('direct') }),
  z.strictObject({
    kind: z.literal('agent'),
    tools: z.array(z.string()),
    maxSteps: z.number(),
    policies: z.record(z.string(), toolPolicyChange).exactOptional(),
    askExpiryMs: z.number().exactOptional(),
    mcp: z.array(mcpServer).exactOptional(),
  }),
  command,
]);
