import * as z from 'zod';
import { EXPECTED, count, name, object, positiveDuration } from './shapes.ts';

const UNIT_BYTES: { readonly [unit: string]: number } = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };
const SIZE = /^(\d+(?:\.\d+)?)([kmgt])$/;
const expecting = (what: string) => ({ error: `${EXPECTED}${what}` });
const A_SIZE = 'a size such as 512m or 2g';

/** `512m`, `2g` as bytes. */
export const size = z
  .string(expecting(A_SIZE))
  .regex(SIZE, expecting(A_SIZE))
  .transform((value) => {
    const [, amount, unit] = SIZE.exec(value) ?? [];
    return Math.round(Number(amount) * (UNIT_BYTES[unit ?? ''] ?? Number.NaN));
  });

const policy = z
  .union([z.enum(['public', 'none']), object({ allow: z.array(name).min(1) })])
  .describe('public, none, or { allow: [host, "*.host", address, range, each with :port] } by a proxy.');

const network = z
  .union([
    policy,
    object({
      baseline: policy.default('public').describe('While the session opens and is set up.'),
      run: policy.default('public').describe('While the agent acts.'),
      evaluation: policy.default('public').describe('While scorers look.'),
    }),
  ])
  .describe('One policy for all phases, or one for each.');

const resources = object({
  cpus: z.number().min(0.01).optional().describe('Processors; 0.5 = half of one.'),
  memory: size.optional(),
  reservedMemory: size.optional().describe('What is kept free for the session; may be less than memory.'),
  pids: count.optional().describe('Processes and threads at one time.'),
  disk: size.optional().describe('Of the working and of the temporary directory.'),
}).describe('Limits of one session. What an environment cannot hold is refused before anything starts.');

const variables = z.record(z.string(), z.string()).default({}).describe('Added to the minimal environment.');

const keep = positiveDuration
  .nullable()
  .default(null)
  .describe(
    "Sessions are not closed but kept for this time, that of a fresh grading too: `assay sandbox list`. Not for scorers' copies.",
  );

export const environmentSchema = z.union([
  z.enum(['none', 'host', 'bubblewrap', 'docker']),
  z.discriminatedUnion('kind', [
    object({ kind: z.literal('none') }),
    object({
      kind: z.literal('host'),
      variables,
      network: network.optional(),
      resources: resources.optional(),
      keep,
    }),
    object({
      kind: z.literal('bubblewrap'),
      variables,
      root: name
        .optional()
        .describe("Absolute path of a root directory; the host's own programs unless given."),
      network: network.optional(),
      resources: resources.optional(),
      keep,
    }),
    object({
      kind: z.literal('docker'),
      image: name.describe(
        'Such as python:3.12-slim; resolved to its digest once, when the run is prepared.',
      ),
      variables,
      network: network.optional(),
      resources: resources.optional(),
      keep,
    }),
  ]),
]);

export type EnvironmentEntry = z.output<typeof environmentSchema>;
export type NetworkEntry = z.output<typeof network>;
export type PolicyEntry = z.output<typeof policy>;
export type ResourcesEntry = z.output<typeof resources>;
