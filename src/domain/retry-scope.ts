import type { AgentEnd, Reason } from './outcome.ts';
import type { EvaluationMode } from './run.ts';

/** Tries of one attempt that were discarded so far. */
export type DiscardedTries = {
  /** Those that count against `retries.max`. */
  readonly spent: number;
  /** Those whose environment was lost: outside the budget, at most three. */
  readonly lost: number;
  /** A model has answered in one of them, or may have; absent = none has. */
  readonly hasEvidence?: boolean;
};

export const NO_TRIES: DiscardedTries = { spent: 0, lost: 0 };

/** How a try ended: its agent, and its grading where that broke instead of giving a verdict. */
export type TryResult = { readonly end: AgentEnd; readonly gradingFailure: Reason | null };

/** What is run again: everything in a new environment, or the grading of what the agent left. */
export type TryScope = 'attempt' | 'grading';

/** What follows a try: it is final, or something is run again after a delay. */
export type NextTry =
  | { readonly kind: 'final' }
  | {
      readonly kind: 'again';
      readonly scope: TryScope;
      readonly reason: Reason;
      readonly delayMs: number;
      /** The expression that decided; null = the cause did. */
      readonly pattern: string | null;
      readonly discarded: DiscardedTries;
    };

/** What has opened the breaker of an engine: no try is granted any more (CB-08). */
const STOPPING: ReadonlySet<string> = new Set([
  'credential',
  'billing',
  'no_evidence',
  'missing_program',
  'engine_down',
]);

const FIRST_DELAY_MS = 5_000;
const LONGEST_DELAY_MS = 60_000;
const MAX_LOST = 3;

/**
 * Decides on one more try by the place of the failure. Infrastructure failures qualify: with `patterns: null` all of
 * them, with a list those whose message or code matches one of its expressions, with `[]` none; an error that the run
 * returned qualifies only by an expression. A lost environment is tried elsewhere outside the budget. Verdicts
 * and scores never qualify. The delay doubles from 5 s to 60 s and is drawn from its upper half; `draw` is in [0, 1).
 */
export function planTry(args: {
  readonly result: TryResult;
  readonly evaluation: EvaluationMode;
  readonly discarded: DiscardedTries;
  readonly retries: { readonly max: number; readonly patterns: readonly string[] | null };
  readonly draw: number;
}): NextTry {
  const { result, evaluation, discarded, retries, draw } = args;
  const failure = findFailure(result);
  if (failure === null) return { kind: 'final' };
  const { reason } = failure;
  if (STOPPING.has(reason.code)) return { kind: 'final' };
  const scope = failure.inGrading && evaluation !== 'reuse' ? 'grading' : 'attempt';
  const again = { kind: 'again', scope, reason, delayMs: drawDelayMs(discarded, draw) } as const;
  if (reason.code === 'environment_lost' && discarded.lost < MAX_LOST)
    return { ...again, pattern: null, discarded: { ...discarded, lost: discarded.lost + 1 } };
  const pattern = retries.patterns?.find((one) => matches(one, reason));
  const qualifies = pattern !== undefined || (retries.patterns === null && failure.isInfra);
  if (!qualifies || discarded.spent >= retries.max) return { kind: 'final' };
  return { ...again, pattern: pattern ?? null, discarded: { ...discarded, spent: discarded.spent + 1 } };
}

type Failure = { readonly reason: Reason; readonly inGrading: boolean; readonly isInfra: boolean };

/** A call with an unknown outcome is never repeated by a try; what was never started has not failed. */
function findFailure({ end, gradingFailure }: TryResult): Failure | null {
  if (end.kind === 'ended')
    return gradingFailure && { reason: gradingFailure, inGrading: true, isInfra: true };
  const { outcome, reason } = end;
  if (outcome === 'refused' || outcome === 'not_run') return null;
  return { reason, inGrading: false, isInfra: outcome !== 'error' };
}

const matches = (pattern: string, { message, code }: Reason): boolean =>
  new RegExp(pattern).test(message) || new RegExp(pattern).test(code);

function drawDelayMs({ spent, lost }: DiscardedTries, draw: number): number {
  const full = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (spent + lost));
  return Math.round(full / 2 + (full / 2) * draw);
}
