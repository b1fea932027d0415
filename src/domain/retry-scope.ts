import type { AgentEnd } from './outcome.ts';

/** What follows a failed try (SPEC 6.4): it is final, or the whole attempt is tried again after a delay. */
export type NextTry =
  | { readonly kind: 'final' }
  | { readonly kind: 'again'; readonly delayMs: number; readonly pattern: string | null };

const FIRST_DELAY_MS = 5_000;
const LONGEST_DELAY_MS = 60_000;

/**
 * Decides on one more try. Only infrastructure failures qualify: with `patterns: null` all of them, with
 * a list those whose message or code matches one of its expressions, with `[]` none.
 * The delay doubles from 5 s to 60 s and is drawn from its upper half; `draw` is in [0, 1).
 */
export function planTry(args: {
  readonly end: AgentEnd;
  readonly tryNumber: number;
  readonly retries: { readonly max: number; readonly patterns: readonly string[] | null };
  readonly draw: number;
}): NextTry {
  const { end, tryNumber, retries, draw } = args;
  if (end.kind !== 'failed' || end.outcome !== 'infra' || tryNumber > retries.max) return { kind: 'final' };
  const { code, message } = end.reason;
  const pattern = retries.patterns?.find(
    (one) => new RegExp(one).test(message) || new RegExp(one).test(code),
  );
  if (retries.patterns !== null && pattern === undefined) return { kind: 'final' };
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tryNumber - 1));
  return { kind: 'again', delayMs: Math.round(full / 2 + (full / 2) * draw), pattern: pattern ?? null };
}
