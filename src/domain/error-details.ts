type Fields = { readonly [name: string]: unknown };

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const listFields = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

/** What Google's error details say beside the message. */
export type ErrorDetails = {
  /** Reasons of `ErrorInfo` in lower case, and `daily_quota_exceeded` or `minute_quota_exceeded` by what refills it. */
  readonly codes: readonly string[];
  /** From `RetryInfo`, in milliseconds. */
  readonly retryAfterMs: number | null;
};

/**
 * Reads `error.details` as Google's APIs send it (google.rpc: ErrorInfo, QuotaFailure, RetryInfo). Its words
 * alone do not tell a minute's limit from a day's: both are "your current quota".
 */
export function readErrorDetails(details: unknown): ErrorDetails {
  const all = listFields(details);
  const reasons = all.flatMap(({ reason }) => (typeof reason === 'string' ? [reason.toLowerCase()] : []));
  const quotas = all
    .flatMap(({ violations }) => listFields(violations))
    .map(({ quotaId }) => (typeof quotaId === 'string' ? quotaId : ''));
  const isDaily = quotas.some((quotaId) => /PerDay/i.test(quotaId));
  const isShort = !isDaily && quotas.some((quotaId) => /Per(?:Second|Minute)/i.test(quotaId));
  const waits = all.map(({ retryDelay }) => parseSeconds(retryDelay)).filter((wait) => wait !== null);
  return {
    codes: [
      ...reasons,
      ...(isDaily ? ['daily_quota_exceeded'] : []),
      ...(isShort ? ['minute_quota_exceeded'] : []),
    ],
    retryAfterMs: waits[0] ?? null,
  };
}

/** A `google.protobuf.Duration` as JSON has it: `34.074824224s`. */
function parseSeconds(text: unknown): number | null {
  const [, seconds] = typeof text === 'string' ? (/^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(text) ?? []) : [];
  return seconds === undefined ? null : Math.round(Number(seconds) * 1000);
}
