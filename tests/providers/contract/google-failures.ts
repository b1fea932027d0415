import type { WireFailure } from './wire-form.ts';

const error = (code: number, status: string, rest: { message: string; details?: readonly object[] }) => ({
  error: { code, status, ...rest },
});

const QUOTA =
  'You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.';

const violation = (quotaId: string) => ({
  '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
  violations: [
    {
      quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
      quotaId,
      quotaDimensions: { location: 'global', model: 'gemini-2.5-pro' },
    },
  ],
});

const retryIn = (retryDelay: string) => ({
  '@type': 'type.googleapis.com/google.rpc.RetryInfo',
  retryDelay,
});

/** Failures as the Gemini API sends them. */
export const GOOGLE_FAILURES: readonly WireFailure[] = [
  {
    name: '400 a wrong key',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', {
      message: 'API key not valid. Please pass a valid API key.',
      details: [
        {
          '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
          reason: 'API_KEY_INVALID',
          domain: 'googleapis.com',
          metadata: { service: 'generativelanguage.googleapis.com' },
        },
      ],
    }),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '403 no permission',
    status: 403,
    body: error(403, 'PERMISSION_DENIED', { message: 'Permission denied: Consumer has been suspended.' }),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '401 no credentials',
    status: 401,
    body: error(401, 'UNAUTHENTICATED', { message: 'Request had invalid authentication credentials.' }),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: "429 a minute's requests used up, with RetryInfo",
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', {
      message: QUOTA,
      details: [violation('GenerateRequestsPerMinutePerProjectPerModel-FreeTier'), retryIn('34.074824224s')],
    }),
    expect: { class: 'throttled', retryable: true, retryAfterMs: [34_075, 34_075] },
  },
  {
    name: "429 a day's requests used up, which no minute mends",
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', {
      message: `${QUOTA}\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 50\nPlease retry in 22.1s.`,
      details: [violation('GenerateRequestsPerDayPerProjectPerModel-FreeTier'), retryIn('22s')],
    }),
    expect: { class: 'billing', retryable: false },
  },
  {
    name: '429 a model without any quota',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', {
      message: `${QUOTA}\n* Quota exceeded for metric: generate_content_free_tier_requests, limit: 0, model: gemini-2.5-pro\nPlease retry in 20.04466179s.`,
      details: [violation('GenerateRequestsPerMinutePerProjectPerModel-FreeTier'), retryIn('20s')],
    }),
    expect: { class: 'billing', retryable: false },
  },
  {
    name: '429 exhausted resources, without details',
    status: 429,
    body: error(429, 'RESOURCE_EXHAUSTED', { message: 'Resource has been exhausted (e.g. check quota).' }),
    expect: { class: 'throttled', retryable: true },
  },
  {
    name: '429 with Retry-After in seconds',
    status: 429,
    headers: { 'retry-after': '7' },
    body: error(429, 'RESOURCE_EXHAUSTED', { message: 'Resource exhausted. Please try again later.' }),
    expect: { class: 'throttled', retryable: true, retryAfterMs: [7_000, 7_000] },
  },
  {
    name: '400 a request that is not valid',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', { message: 'Request contains an invalid argument.' }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '404 an unknown model',
    status: 404,
    body: error(404, 'NOT_FOUND', {
      message:
        'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.',
    }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '413 too large a body',
    status: 413,
    body: error(413, 'INVALID_ARGUMENT', {
      message: 'Request payload size exceeds the limit: 20971520 bytes.',
    }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '422 a body that cannot be processed',
    status: 422,
    body: error(422, 'INVALID_ARGUMENT', { message: 'Invalid JSON payload received.' }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '400 too many tokens',
    status: 400,
    body: error(400, 'INVALID_ARGUMENT', {
      message: 'The input token count (1200034) exceeds the maximum number of tokens allowed (1048576).',
    }),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '500 an error of the server',
    status: 500,
    body: error(500, 'INTERNAL', { message: 'An internal error has occurred. Please retry.' }),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '503 an overload',
    status: 503,
    body: error(503, 'UNAVAILABLE', { message: 'The model is overloaded. Please try again later.' }),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '504 a deadline of the server',
    status: 504,
    body: error(504, 'DEADLINE_EXCEEDED', { message: 'The request timed out. Please try again.' }),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '503 in a list, as streams have it',
    status: 503,
    body: [error(503, 'UNAVAILABLE', { message: 'The model is overloaded. Please try again later.' })],
    expect: { class: 'server', retryable: true },
  },
];
