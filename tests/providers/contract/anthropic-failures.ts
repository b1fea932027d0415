import type { WireFailure } from './wire-form.ts';

const error = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011',
});

const TOO_FAST = error(
  'rate_limit_error',
  "This request would exceed your organization's rate limit of 30,000 input tokens per minute. For details, refer to the documentation; see the response headers for current usage. Please reduce the prompt length or the maximum tokens requested, or try again later.",
);

const throttled = (retryAfterMs: readonly [number, number]) => ({
  class: 'throttled',
  retryable: true,
  retryAfterMs,
});

/** Failures as Anthropic sends them. Dates lie an hour ahead of the moment when this file is read. */
export const ANTHROPIC_FAILURES: readonly WireFailure[] = [
  {
    name: '401 a wrong key',
    status: 401,
    body: error('authentication_error', 'invalid x-api-key'),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '403 a key without permission',
    status: 403,
    body: error('permission_error', 'Your API key does not have permission to use the specified resource.'),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '402 a problem of billing',
    status: 402,
    body: error('billing_error', 'There is an issue with your billing or payment information.'),
    expect: { class: 'billing', retryable: false },
  },
  {
    name: '400 an empty balance',
    status: 400,
    body: error(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    expect: { class: 'billing', retryable: false },
  },
  {
    name: '400 the spending limit of a workspace, with the day of its reset',
    status: 400,
    body: error(
      'invalid_request_error',
      `You have reached your specified API usage limits. You will regain access on ${new Date(Date.now() + 36 * 3_600_000).toISOString().slice(0, 10)} at 00:00 UTC.`,
    ),
    expect: { class: 'billing', retryable: false, retryAfterMs: [11 * 3_600_000, 36 * 3_600_000] },
  },
  {
    name: '429 too many tokens, with Retry-After in seconds',
    status: 429,
    headers: { 'retry-after': '41' },
    body: TOO_FAST,
    expect: throttled([41_000, 41_000]),
  },
  {
    name: '429 too many tokens, with Retry-After as a date',
    status: 429,
    headers: { 'retry-after': new Date(Date.now() + 3_600_000).toUTCString() },
    body: TOO_FAST,
    expect: throttled([3_500_000, 3_600_000]),
  },
  {
    name: '429 too many tokens, with the reset header of the limit that is used up',
    status: 429,
    headers: {
      'anthropic-ratelimit-requests-remaining': '49',
      'anthropic-ratelimit-requests-reset': new Date(Date.now() + 9 * 3_600_000).toISOString(),
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': new Date(Date.now() + 3_600_000).toISOString(),
    },
    body: TOO_FAST,
    expect: throttled([3_500_000, 3_600_000]),
  },
  {
    name: '400 a request that is not valid',
    status: 400,
    body: error(
      'invalid_request_error',
      'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens',
    ),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '404 an unknown model',
    status: 404,
    body: error('not_found_error', 'model: claude-nope'),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '413 too large a request',
    status: 413,
    body: error('request_too_large', 'Request exceeds the maximum size'),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '422 a body that cannot be processed',
    status: 422,
    body: error('invalid_request_error', 'messages: field required'),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '400 a prompt that is too long',
    status: 400,
    body: error('invalid_request_error', 'prompt is too long: 208310 tokens > 200000 maximum'),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '400 a prompt and an answer that are too long together',
    status: 400,
    body: error(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again',
    ),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '500 an error of the server',
    status: 500,
    body: error('api_error', 'Internal server error'),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '504 a time-out of the server',
    status: 504,
    body: error('timeout_error', 'Request timed out'),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '529 an overload',
    status: 529,
    body: error('overloaded_error', 'Overloaded'),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '200 with an error body',
    status: 200,
    body: error('overloaded_error', 'Overloaded'),
    expect: { class: 'server', retryable: true },
  },
];
