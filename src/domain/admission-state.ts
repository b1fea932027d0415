import type { Amount, Refusal, Scope } from './admission-scope.ts';
import type { Health, Tripping, TripReason } from './breaker.ts';
import type { TerminalState } from './outcome.ts';
import type { RateLine, Rates } from './rate-line.ts';

/**
 * The rules of `beginCall` in `store/` and of what settles a call, without a database: property tests compare the two.
 */
export type AdmissionState = {
  readonly runId: string;
  /** How the run is frozen, or null. */
  readonly stop: TerminalState | null;
  readonly onExceed: 'stop' | 'warn';
  /** `run`, and `model/` with the model's id: only where a cap is set. */
  readonly scopes: { readonly [name: string]: Scope };
  readonly pausedUntilMs: { readonly [engineId: string]: number };
  /** Only engines that the breaker watches. */
  readonly health: { readonly [engineId: string]: Health };
  /** Only engines with a limit on requests or tokens a minute. */
  readonly rates: { readonly [engineId: string]: EngineRate };
  /** Requests of each call, in order; the name is the call's key. */
  readonly calls: { readonly [name: string]: readonly CallRow[] };
};

export type EngineRate = { readonly limits: Rates; readonly line: RateLine };

/** One request that was sent or may have been. */
export type CallRow = {
  readonly state: 'started' | 'completed' | 'failed' | 'lost' | 'late';
  readonly modelId: string;
  readonly engineId: string;
  readonly worst: Amount;
  /** Tokens taken from the engine's tokens a minute; null = no such limit. */
  readonly rateTokens: number | null;
  readonly charged: Amount | null;
  readonly failures: number;
  /** A failed row without it is final. */
  readonly retryAtMs: number | null;
};

/** What a request has cost; null = the provider did not say. */
export type Spend =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly usd: number | null; readonly tokens: number | null };

export type AdmissionEvent =
  | {
      readonly kind: 'begin';
      readonly call: string;
      readonly modelId: string;
      readonly engineId: string;
      readonly worst: Amount;
      readonly maxRetries: number;
      readonly nowMs: number;
    }
  | {
      readonly kind: 'complete';
      readonly call: string;
      readonly requestNumber: number;
      readonly spend: Spend;
      readonly nowMs: number;
    }
  | {
      readonly kind: 'fail';
      readonly call: string;
      readonly requestNumber: number;
      readonly spend: Spend;
      readonly retryAtMs: number | null;
    }
  /** The attempt that these calls belong to was recorded. */
  | { readonly kind: 'close'; readonly calls: readonly string[] }
  | { readonly kind: 'freeze'; readonly state: TerminalState }
  | { readonly kind: 'pause'; readonly engineId: string; readonly untilMs: number }
  /** What is found out about an engine. */
  | { readonly kind: 'life'; readonly engineId: string; readonly nowMs: number }
  | ({ readonly kind: 'trip'; readonly engineId: string } & Tripping)
  | ({ readonly kind: 'exhausted'; readonly engineId: string } & Pick<Tripping, 'resetMs' | 'nowMs'>)
  | { readonly kind: 'release'; readonly engineId: string; readonly call: string };

export type AdmissionAnswer =
  | {
      readonly kind: 'granted';
      readonly requestNumber: number;
      readonly failuresSoFar: number;
      readonly probe: boolean;
    }
  | { readonly kind: 'recorded'; readonly requestNumber: number }
  | { readonly kind: 'failed'; readonly failures: number }
  | { readonly kind: 'stopped'; readonly reason: TerminalState }
  | ({ readonly kind: 'over_budget'; readonly scope: 'run' | 'model' } & Omit<Refusal, 'kind'>)
  | { readonly kind: 'engine_down'; readonly reason: TripReason }
  | {
      readonly kind: 'wait';
      readonly reason: 'reservation' | 'engine_paused' | 'retry' | 'rate' | 'probe' | 'engine_down';
    }
  | { readonly kind: 'settled' | 'repeated' | 'late' | 'unknown_request' }
  | { readonly kind: 'done' };

export type Admission = { readonly state: AdmissionState; readonly answer: AdmissionAnswer };
