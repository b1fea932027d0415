import type { ClassifiedFailure, FailureClass } from '../domain/failure.ts';
import type { WireError } from './wire-form.ts';

const STATUSES: { readonly [name in FailureClass]: number } = {
  throttled: 429,
  server: 500,
  connection: 502,
  time_out: 504,
  bad_request: 400,
  context_overflow: 400,
  credential: 401,
  billing: 402,
  no_evidence: 502,
  bad_answer: 502,
  cancelled: 499,
  unknown: 502,
};

const CODES: { readonly [name in FailureClass]?: string } = {
  context_overflow: 'context_length_exceeded',
  billing: 'insufficient_quota',
  credential: 'invalid_api_key',
  throttled: 'rate_limit_exceeded',
};

/** A failure that has no answer of the provider's own, as its API would tell it. */
export const toWireError = (failure: ClassifiedFailure): WireError => ({
  status: failure.status !== null && failure.status >= 400 ? failure.status : STATUSES[failure.class],
  code: CODES[failure.class] ?? failure.class,
  message: failure.message,
});

/** `retry-after` in whole seconds, where the provider asked for a wait. */
export const toRetryHeaders = ({ retryAfterMs }: ClassifiedFailure): { readonly [name: string]: string } =>
  retryAfterMs === null ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) };
