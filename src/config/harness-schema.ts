import * as z from 'zod';
import { count, name, object, positiveDuration } from './shapes.ts';

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

export const harnessSchema = z.union([
  z.enum(['direct', 'agent', 'command']),
  z.discriminatedUnion('kind', [
    object({ kind: z.literal('direct') }),
    object({
      kind: z.literal('agent'),
      tools: z.array(toolEntrySchema).optional().describe('All built-in tools but submit unless given.'),
      maxSteps: count.default(30),
      askExpiry: positiveDuration
        .optional()
        .describe(
          'How long a call with onUnknown: ask waits for `assay resolve`; 24h unless given, then it is refused.',
        ),
    }),
    z.looseObject({ kind: z.literal('command') }),
  ]),
]);

export type HarnessEntry = z.output<typeof harnessSchema>;
export type ToolEntry = z.output<typeof toolEntrySchema>;
