import { RESOLUTION_CHOICES, type AskedCall, type ResolutionChoice } from './tool-ledger.ts';

/** What a person says of a tool call that waits; step and call name it where that matters. */
export type ResolveRequest = {
  readonly choice: ResolutionChoice;
  /** What the call gave; with `done` alone, at most 16 Ki characters. */
  readonly output?: string;
  readonly step?: number;
  readonly call?: number;
  readonly by?: string;
};

const MAX_OUTPUT = 16 * 1024;

const KEYS = ['choice', 'output', 'step', 'call', 'by'];

/** Why what was sent says nothing about the call that waits, or null. */
export function findResolveProblem(input: unknown, asked: AskedCall): string | null {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return `input: expected { choice, output? }, got ${input === null ? 'null' : typeof input}`;
  const given = input as { readonly [key: string]: unknown };
  const unknown = Object.keys(given).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) return `${unknown}: expected one of ${KEYS.join(', ')}`;
  const { choice, output, step, call, by } = given;
  if (!RESOLUTION_CHOICES.some((one) => one === choice))
    return `choice: expected one of ${RESOLUTION_CHOICES.join(', ')}, got ${JSON.stringify(choice)}`;
  if (output !== undefined && (typeof output !== 'string' || output.length > MAX_OUTPUT))
    return `output: expected a text of at most ${MAX_OUTPUT} characters`;
  if (output !== undefined && choice !== 'done')
    return `output: goes with "done" alone, not with "${String(choice)}"`;
  if (by !== undefined && typeof by !== 'string') return 'by: expected a text';
  if ((step ?? asked.step) !== asked.step || (call ?? asked.call) !== asked.call)
    return `step, call: what waits is ${formatAskedCall(asked)}`;
  return null;
}

/** One asked call for people. */
export const formatAskedCall = ({ tool, step, call, preview }: AskedCall): string =>
  `${tool} (step ${step}, call ${call}) was started and its worker was lost: ${preview}`;
