import type { ClassifiedFailure } from './failure.ts';

/** What to do after a failed model call. */
export type RetryPlan =
  | { readonly kind: 'retry'; readonly delayMs: number }
  /** The provider asked for a wait above 60 s: no call of it starts before `untilMs` (epoch). */
  | { readonly kind: 'pause_provider'; readonly untilMs: number }
  | { readonly kind: 'give_up' };

export type RetryInput = {
  readonly failure: ClassifiedFailure;
  /** Failed requests of this call before this one: 0 at the first failure. */
  readonly failuresSoFar: number;
  /** `max` retries after the first request (0 = none); `baseMs` of the back-off. */
  readonly retry: { readonly max: number; readonly baseMs: number };
  /** In [0, 1). */
  readonly random: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

const LONGEST_DELAY_MS = 60_000;
const RETRY_AFTER_JITTER_MS = 1_000;
const LARGEST_EXPONENT = 32;
/** A header that asks for more than a year is a mistake of its writer, such as an epoch. */
const LONGEST_RETRY_AFTER_MS = 366 * 24 * 3600 * 1000;

/**
 * Plans the next request of a call: full jitter, uniform in [0, min(60 s, base x 2^n)] ("Exponential
 * Backoff And Jitter", AWS Architecture Blog); `Retry-After` replaces it, plus up to 1 s.
 */
export function planRetry(input: RetryInput): RetryPlan {
  const { failure, retry, random } = input;
  if (!failure.retryable || failure.class === 'cancelled') return { kind: 'give_up' };
  if (input.failuresSoFar >= retry.max) return { kind: 'give_up' };
  if (failure.retryAfterMs === null) {
    return {
      kind: 'retry',
      delayMs: Math.round(random * toBackoffLimitMs(retry.baseMs, input.failuresSoFar)),
    };
  }
  const delayMs = Math.round(failure.retryAfterMs + random * RETRY_AFTER_JITTER_MS);
  if (failure.retryAfterMs > LONGEST_DELAY_MS)
    return { kind: 'pause_provider', untilMs: input.now + delayMs };
  return { kind: 'retry', delayMs };
}

/** Upper end of the back-off after `failuresSoFar` earlier failures, in milliseconds. */
export const toBackoffLimitMs = (baseMs: number, failuresSoFar: number): number =>
  Math.min(LONGEST_DELAY_MS, baseMs * 2 ** Math.min(Math.max(0, failuresSoFar), LARGEST_EXPONENT));

/**
 * Wait that the provider asked for, in milliseconds, from `retry-after-ms` or `Retry-After` (seconds with
 * decimals, or an HTTP date: RFC 9110, 10.2.3). A past date is 0; junk, negative and absurd values are null.
 * Header names are matched in any case.
 */
export function parseRetryAfter(headers: { readonly [name: string]: string }, now: number): number | null {
  const millis = parseAmount(findHeader(headers, 'retry-after-ms'), 1);
  if (millis !== null) return millis;
  const text = findHeader(headers, 'retry-after');
  return parseAmount(text, 1000) ?? parseDate(text, now);
}

function findHeader(headers: { readonly [name: string]: string }, wanted: string): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === wanted) return value.trim();
  }
  return null;
}

function parseAmount(text: string | null, unitMs: number): number | null {
  if (text === null || !/^\d{1,12}(?:\.\d*)?$/.test(text)) return null;
  return toSaneWait(Math.round(Number(text) * unitMs));
}

function parseDate(text: string | null, now: number): number | null {
  // Only the forms of an HTTP date: Date.parse alone would read "2" or "-3" as a year or a month.
  if (text === null || !/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d/i.test(text)) return null;
  const time = Date.parse(/GMT|UTC|[+-]\d{4}$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(time) ? null : toSaneWait(Math.max(0, time - now));
}

const toSaneWait = (waitMs: number): number | null =>
  Number.isFinite(waitMs) && waitMs <= LONGEST_RETRY_AFTER_MS ? waitMs : null;
