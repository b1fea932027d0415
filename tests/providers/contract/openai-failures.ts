import type { WireFailure } from './wire-form.ts';

const error = (message: string, rest: { type?: string; code?: string | null; param?: string | null }) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null, ...rest },
});

const TOO_FAST =
  'Rate limit reached for gpt-4.1 in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1. ';

const throttled = (retryAfterMs: readonly [number, number]) => ({
  class: 'throttled',
  retryable: true,
  retryAfterMs,
});

/** Failures as OpenAI sends them, for chat completions and for the responses API. */
export const OPENAI_FAILURES: readonly WireFailure[] = [
  {
    name: '401 a wrong key',
    status: 401,
    body: error('Incorrect API key provided: sk-nope.', { code: 'invalid_api_key' }),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '403 a country that is not served',
    status: 403,
    body: error('Country, region, or territory not supported', {
      type: 'request_forbidden',
      code: 'unsupported_country_region_territory',
    }),
    expect: { class: 'credential', retryable: false },
  },
  {
    name: '429 an exhausted quota',
    status: 429,
    body: error('You exceeded your current quota, please check your plan and billing details.', {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    }),
    expect: { class: 'billing', retryable: false },
  },
  {
    name: '429 too many requests, with Retry-After in seconds',
    status: 429,
    headers: { 'retry-after': '20' },
    body: error(TOO_FAST, { type: 'requests', code: 'rate_limit_exceeded' }),
    expect: throttled([20_000, 20_000]),
  },
  {
    name: '429 too many requests, with retry-after-ms',
    status: 429,
    headers: { 'retry-after': '1', 'retry-after-ms': '347' },
    body: error(TOO_FAST, { type: 'requests', code: 'rate_limit_exceeded' }),
    expect: throttled([347, 347]),
  },
  {
    name: '429 too many requests, with the wait in the text alone',
    status: 429,
    body: error(`${TOO_FAST}Please try again in 1m12.5s. Visit the page to learn more.`, {
      type: 'requests',
      code: 'rate_limit_exceeded',
    }),
    expect: throttled([72_500, 72_500]),
  },
  {
    name: '429 too many requests, with the reset headers alone',
    status: 429,
    headers: {
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '6m0s',
      'x-ratelimit-remaining-tokens': '149984',
      'x-ratelimit-reset-tokens': '9h',
    },
    body: error(TOO_FAST, { type: 'requests', code: 'rate_limit_exceeded' }),
    expect: throttled([360_000, 360_000]),
  },
  {
    name: '429 a request above what a minute allows, which no wait mends',
    status: 429,
    body: error(
      'Request too large for gpt-4.1 in organization org-x on tokens per min (TPM): Limit 30000, Requested 50000. The input or output tokens must be reduced in order to run successfully.',
      { type: 'tokens', code: 'rate_limit_exceeded' },
    ),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '400 a parameter that the model refuses',
    status: 400,
    body: error("Unsupported parameter: 'temperature' is not supported with this model.", {
      code: 'unsupported_parameter',
      param: 'temperature',
    }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '404 an unknown model',
    status: 404,
    body: error('The model `gpt-9` does not exist or you do not have access to it.', {
      code: 'model_not_found',
    }),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '413 too large a body',
    status: 413,
    body: error('Request body too large', {}),
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '422 a body that cannot be processed',
    status: 422,
    body: { detail: [{ loc: ['body', 'messages'], msg: 'field required', type: 'value_error.missing' }] },
    expect: { class: 'bad_request', retryable: false },
  },
  {
    name: '400 a context overflow of chat completions',
    status: 400,
    body: error(
      "This model's maximum context length is 128000 tokens. However, your messages resulted in 130021 tokens. Please reduce the length of the messages.",
      { code: 'context_length_exceeded', param: 'messages' },
    ),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '400 a context overflow of the responses API',
    status: 400,
    body: error(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      {
        code: 'context_length_exceeded',
        param: 'input',
      },
    ),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '400 a configured limit of the input',
    status: 400,
    body: error(
      'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300000 tokens. Please reduce the length of the messages.',
      {},
    ),
    expect: { class: 'context_overflow', retryable: false },
  },
  {
    name: '500 an error of the server',
    status: 500,
    body: error('The server had an error while processing your request. Sorry about that!', {
      type: 'server_error',
    }),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '503 an overloaded engine',
    status: 503,
    body: error('The engine is currently overloaded, please try again later', { type: 'server_error' }),
    expect: { class: 'server', retryable: true },
  },
  {
    name: '200 with an error body',
    status: 200,
    body: error('Rate limit reached', { type: 'requests', code: 'rate_limit_exceeded' }),
    expect: { class: 'throttled', retryable: true },
  },
];
