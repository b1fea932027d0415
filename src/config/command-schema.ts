import * as z from 'zod';
import { EXPECTED, count, name, object, positiveDuration, variableName } from './shapes.ts';

const places = z.union([name, z.array(name).min(1)]);

/** Paths go through maps and lists by dots; `*` = every member. */
const usagePaths = {
  inputTokens: places.optional().describe('Cached input included: give a list of paths that add up.'),
  outputTokens: places.optional(),
  reasoningTokens: places.optional(),
  cacheReadTokens: places.optional(),
  cacheWriteTokens: places.optional(),
  costUsd: places.optional(),
};

const expression = z
  .string()
  .refine((text) => hasGroup(text), {
    error: `${EXPECTED}a regular expression with a group around the figure`,
  })
  .describe('A regular expression whose first group is the figure.');

function hasGroup(text: string): boolean {
  try {
    return (new RegExp(`${text}|`).exec('')?.length ?? 0) > 1;
  } catch {
    return false;
  }
}

const file = name.optional().describe('A file of the session; stdout unless given.');
const where = z
  .record(z.string(), z.string())
  .default({})
  .describe('Path -> text: only objects that have it there are read.');
const combine = z
  .enum(['sum', 'last'])
  .default('sum')
  .describe('Several figures add up, or the last one counts.');

const usageSchema = z.union([
  object({ jsonLines: object({ file, where, ...usagePaths, combine }) }),
  object({ json: object({ file, where, ...usagePaths, combine }) }),
  object({
    pattern: object({
      file,
      inputTokens: expression.optional(),
      outputTokens: expression.optional(),
      costUsd: expression.optional(),
      combine,
    }),
  }),
]);

const answerJson = object({ file, where, path: name });

const answerSchema = z.union([
  z.literal('stdout'),
  object({ file: name }),
  object({ jsonLines: answerJson }),
  object({ json: answerJson }),
]);

const commandShape = {
  command: z
    .array(name)
    .min(1)
    .optional()
    .describe(
      'Program and arguments. {{prompt}}, {{promptFile}}, {{model}}, {{workdir}} and, with the proxy, {{openaiUrl}}, {{anthropicUrl}}, {{googleUrl}} and {{token}} are filled in.',
    ),
  arguments: z.array(z.string()).optional().describe('Added to the command, before the prompt.'),
  prompt: z
    .union([z.enum(['argument', 'stdin']), object({ file: name })])
    .optional()
    .describe(
      'How the agent gets the case: as its last argument (or where {{prompt}} stands), on stdin, or in a file.',
    ),
  variables: z
    .record(z.string(), z.string())
    .optional()
    .describe('Added to the minimal environment of the command.'),
  variablesEnv: z
    .record(z.string(), variableName)
    .optional()
    .describe(
      "Variable of the agent -> name of the worker's variable that holds its value. The agent can read it.",
    ),
  proxy: z
    .boolean()
    .optional()
    .describe(
      "Model traffic goes through Assay's recording proxy: tokens, cost, limits and budgets hold, and the agent sees no key.",
    ),
  maxTurns: count.optional().describe('Requests to the model in one try; needs the proxy.'),
  timeout: positiveDuration.optional().describe('1h unless given; what the agent left is graded.'),
  usage: usageSchema
    .optional()
    .describe('Where the agent says what it used; with the proxy it is known anyway.'),
  answer: answerSchema.optional().describe('The final answer: its stdout unless given.'),
};

/** The harness `command` as run files write it. */
export const commandSchema = object({
  kind: z.literal('command'),
  preset: name.optional().describe('A well-known agent; every other key replaces what the preset says.'),
  ...commandShape,
});

/** A file of `src/harnesses/presets`: what is known of one agent, and where it was read. */
export const commandPresetSchema = object({
  title: name,
  program: name.describe('What has to be installed.'),
  install: name,
  wire: z.enum(['anthropic', 'openai-chat', 'openai-responses', 'google', 'any']),
  sources: z.array(z.url()).min(1),
  read: z.iso.date().describe('Day on which the sources were read.'),
  tried: z.boolean().describe("Whether Assay's makers have run it."),
  notes: z.array(name).default([]),
  harness: object({
    ...commandShape,
    command: z.array(name).min(1),
    proxyArguments: z.array(z.string()).optional().describe('Added to the command where the proxy is used.'),
    proxyVariables: z.record(z.string(), z.string()).optional().describe('Set where the proxy is used.'),
  }),
});

export type CommandEntry = z.output<typeof commandSchema>;
export type CommandPreset = z.output<typeof commandPresetSchema>;
