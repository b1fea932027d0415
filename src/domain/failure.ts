/**
 * Class of a failed model call. `retryable` classes are tried again; `breaker` classes say
 * something about the engine, not about this input.
 */
export type FailureClass =
  | 'throttled'
  | 'server'
  | 'connection'
  | 'time_out'
  | 'bad_request'
  | 'context_overflow'
  | 'credential'
  | 'billing'
  | 'no_evidence'
  | 'bad_answer'
  | 'cancelled'
  | 'unknown';

/** A failed call as the classifier sees it. */
export type ClassifiedFailure = {
  readonly class: FailureClass;
  readonly retryable: boolean;
  readonly status: number | null;
  /** From `Retry-After` or `retry-after-ms`; null when absent or unreadable. */
  readonly retryAfterMs: number | null;
  /** The model may have worked on the request, so it may be charged although no answer came. */
  readonly served: boolean;
  /** One readable line of at most 500 characters, without markup. */
  readonly message: string;
};
