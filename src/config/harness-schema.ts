import * as z from 'zod';
import { commandSchema } from './command-schema.ts';
import { count, EXPECTED, name, object, positiveDuration, variableName } from './shapes.ts';

/** How a tool may be repeated, as far as a file says it; the rest is the tool's own. */
const toolPolicyShape = {
  idempotent: z.boolean().optional().describe('Doing it twice is doing it once.'),
  timeout: positiveDuration
    .optional()
    .describe('A call that takes longer is told to the model as a time-out.'),
  maxAttempts: z
    .int()
    .min(1)
    .max(10)
    .optional()
    .describe('Executions of one call that failed for a passing reason; only where the tool is idempotent.'),
  onUnknown: z
    .enum(['refuse', 'ask', 'rerun', 'skip'])
    .optional()
    .describe(
      'A call whose worker was lost: end the attempt as refused, wait for `assay resolve`, run it again, or tell the model that nobody knows.',
    ),
};

/** A tool by its name, or with what the run file says of it. */
export const toolEntrySchema = z.union([name, object({ name, ...toolPolicyShape })]);

const serverName = z
  .string()
  .regex(/^[A-Za-z0-9-]{1,24}$/, { error: `${EXPECTED}a name of 1 to 24 letters, digits and "-"` });

const serverTools = z
  .array(toolEntrySchema)
  .optional()
  .describe("The server's own names of the tools that are offered; all unless given. Models see name__tool.");

/** A server of the Model Context Protocol. */
export const mcpServerSchema = z.union([
  object({
    name: serverName,
    command: name.describe(
      'Program of a server that speaks over its standard streams, on the host of the session.',
    ),
    args: z.array(z.string()).default([]),
    variables: z.record(z.string(), z.string()).default({}).describe('Added to its minimal environment.'),
    stateful: z
      .boolean()
      .default(false)
      .describe('What it holds is part of the attempt: when it dies the attempt starts anew elsewhere.'),
    tools: serverTools,
  }),
  object({
    name: serverName,
    url: z.url().describe('Address of a server that speaks streamable HTTP.'),
    headersEnv: z
      .record(z.string(), variableName)
      .default({})
      .describe('Header -> name of the environment variable that holds its value.'),
    tools: serverTools,
  }),
]);

export const harnessSchema = z.union([
  z.enum(['direct', 'agent']),
  z.discriminatedUnion('kind', [
    object({ kind: z.literal('direct') }),
    object({
      kind: z.literal('agent'),
      tools: z.array(toolEntrySchema).optional().describe('All built-in tools but submit unless given.'),
      mcp: z.array(mcpServerSchema).optional().describe('MCP servers whose tools are offered beside those.'),
      maxSteps: count.default(30),
      askExpiry: positiveDuration
        .optional()
        .describe(
          'How long a call with onUnknown: ask waits for `assay resolve`; 24h unless given, then it is refused.',
        ),
    }),
    commandSchema,
  ]),
]);

export type HarnessEntry = z.output<typeof harnessSchema>;
export type McpServerEntry = z.output<typeof mcpServerSchema>;
export type ToolEntry = z.output<typeof toolEntrySchema>;
