import type { JsonObject } from './json.ts';

/** What a scorer says of one attempt. `unscored` = it could not judge: no number, never 0. */
export type ScorerVerdict =
  | {
      readonly kind: 'scored';
      /** Finite, 0..1. */
      readonly value: number;
      readonly pass: boolean;
      readonly explanation: string;
      readonly metrics: JsonObject;
    }
  | { readonly kind: 'unscored'; readonly code: string; readonly explanation: string };

/** A verdict with the scorer that gave it: one row. */
export type Score = {
  readonly scorer: string;
  readonly kind: string;
  readonly weight: number;
  readonly required: boolean;
  readonly verdict: ScorerVerdict;
};
