import type { TripReason } from './breaker.ts';
import type { ClassifiedFailure } from './failure.ts';
import type { Usage } from './usage.ts';

/** What a failed request says about its engine; null = nothing. */
export type EngineSign =
  | { readonly kind: 'life' }
  | { readonly kind: 'exhausted'; readonly resetMs: number | null }
  | {
      readonly kind: 'trip';
      readonly reason: TripReason;
      readonly resetMs: number | null;
    }
  | null;

/**
 * The detector of failed model calls: token usage always wins; a bad key, an empty account and a success without
 * evidence trip at once; a call whose retries are used up counts; a refusal of this very input shows that the engine
 * judges inputs, so it is a sign of life.
 */
export function findEngineSign(failure: {
  readonly classified: Pick<ClassifiedFailure, 'class' | 'status' | 'retryAfterMs'>;
  readonly usage: Usage | null;
  /** The call is not tried again. */
  readonly isFinal: boolean;
}): EngineSign {
  const { classified, usage, isFinal } = failure;
  const resetMs = classified.retryAfterMs;
  if ((usage?.outputTokens ?? 0) > 0) return { kind: 'life' };
  switch (classified.class) {
    case 'credential':
    case 'billing':
    case 'no_evidence':
      return { kind: 'trip', reason: classified.class, resetMs };
    case 'bad_request':
    case 'context_overflow':
      return classified.status === null ? null : { kind: 'life' };
    case 'cancelled':
      return null;
    case 'throttled':
    case 'server':
    case 'connection':
    case 'time_out':
    case 'bad_answer':
    case 'unknown':
      return isFinal ? { kind: 'exhausted', resetMs } : null;
  }
}

/** What to do about an engine that is down. */
export function adviseEngine(reason: TripReason, keyName: string | null): string {
  switch (reason) {
    case 'credential':
      return keyName === null ? 'check its key' : `check the key in ${keyName}`;
    case 'billing':
      return 'restore the balance or quota of the account';
    case 'no_evidence':
      return 'check its account and logs: it reports success and sends error texts';
    case 'missing_binary':
      return 'install the program, or mend its path, where the agent runs';
    case 'exhausted':
      return 'wait until it is up again, or mend it';
  }
}

/** The words of a trip, as they stand in messages. */
export const TRIP_WORDS: { readonly [reason in TripReason]: string } = {
  credential: 'the credential was refused',
  billing: 'the account has no balance or quota',
  no_evidence: 'answers come without a model behind them',
  missing_binary: 'the program is missing',
  exhausted: 'calls fail again and again',
};
