import { describe, expect, test } from 'vitest';
import { classifyFailure } from '../../src/domain/classify-failure.ts';
import type { FailureRule } from '../../src/domain/classify-failure.ts';
import type { FailureClass } from '../../src/domain/failure.ts';
import { readAnswerFacts, readErrorFacts } from '../../src/domain/failure-facts.ts';

const NOW = Date.parse('2026-03-04T05:06:07Z');

const classifyAnswer = (status: number, body: unknown = '', headers: { [name: string]: string } = {}) =>
  classifyFailure(
    readAnswerFacts({ status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) }),
    { now: NOW },
  );

const classifyError = (error: unknown, rules: readonly FailureRule[] = []) =>
  classifyFailure(readErrorFacts(error), { now: NOW, rules });

const withFields = (message: string, fields: object): Error => Object.assign(new Error(message), fields);

describe('an HTTP answer', () => {
  const byStatus: readonly [status: number, expected: FailureClass, retryable: boolean][] = [
    [400, 'bad_request', false],
    [401, 'credential', false],
    [402, 'billing', false],
    [403, 'credential', false],
    [404, 'bad_request', false],
    [408, 'time_out', true],
    [409, 'server', true],
    [413, 'bad_request', false],
    [418, 'bad_request', false],
    [422, 'bad_request', false],
    [425, 'server', true],
    [429, 'throttled', true],
    [500, 'server', true],
    [503, 'server', true],
    [529, 'server', true],
    [599, 'server', true],
    [302, 'bad_request', false],
  ];

  test.each(byStatus)('AF-01 AA-04 status %i is %s, retried: %s', (status, expected, retryable) => {
    expect(classifyAnswer(status)).toMatchObject({ class: expected, retryable, status });
  });

  const byBody: readonly [name: string, status: number, error: object, expected: FailureClass][] = [
    ['a quota code with 429', 429, { code: 'insufficient_quota', message: 'x' }, 'billing'],
    [
      'a quota text with 429',
      429,
      { message: 'You exceeded your current quota, please check your plan.' },
      'billing',
    ],
    [
      'a limit of nothing that names a minute',
      429,
      {
        message:
          'You exceeded your current quota.\n* Quota exceeded for metric: x, limit: 0\nPlease retry in 20.1s.',
      },
      'billing',
    ],
    [
      "Google's quota of a minute",
      429,
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota, please check your plan and billing details.',
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }] }],
      },
      'throttled',
    ],
    [
      "Google's quota of a day",
      429,
      {
        status: 'RESOURCE_EXHAUSTED',
        message: 'You exceeded your current quota. Please retry in 22s.',
        details: [{ violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel' }] }],
      },
      'billing',
    ],
    [
      'the usage limit of a workspace',
      400,
      { message: 'You have reached your specified workspace API usage limits.' },
      'billing',
    ],
    [
      'more in one request than a minute allows',
      429,
      { message: 'Request too large for m: Limit 1, Requested 2' },
      'bad_request',
    ],
    [
      'words about a large request that are no verdict',
      429,
      { message: 'Busy with a request too large for others' },
      'throttled',
    ],
    [
      'tokens above a configured limit',
      400,
      { message: 'Input tokens exceed the configured limit of 272000 tokens.' },
      'context_overflow',
    ],
    ['a prompt that is refused', 400, { code: 'invalid_prompt', message: 'x' }, 'bad_request'],
    [
      "a reason in Google's details",
      400,
      { message: 'x', details: [{ reason: 'API_KEY_INVALID' }] },
      'credential',
    ],
    ['an exhausted daily quota', 429, { message: 'Daily quota exhausted for this key' }, 'billing'],
    [
      'a quota that refills each minute',
      429,
      { message: 'You exceeded your current quota. Limit per minute: 15' },
      'throttled',
    ],
    [
      'a rate',
      429,
      { code: 'rate_limit_exceeded', message: 'Rate limit reached for tokens per min' },
      'throttled',
    ],
    [
      'a low balance with 400',
      400,
      { message: 'Your credit balance is too low to access the API.' },
      'billing',
    ],
    ['a balance with 403', 403, { message: 'Insufficient Balance' }, 'billing'],
    ['a bad key with 400', 400, { message: 'API key not valid. Please pass a valid API key.' }, 'credential'],
    ['an expired key with 400', 400, { message: 'The API key has expired' }, 'credential'],
    ['C12 an overflow by code', 400, { code: 'context_length_exceeded', message: 'x' }, 'context_overflow'],
    [
      'C12 an overflow by text',
      400,
      { message: "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens" },
      'context_overflow',
    ],
    [
      'C12 a long prompt',
      400,
      { message: 'prompt is too long: 210000 tokens > 200000 maximum' },
      'context_overflow',
    ],
    [
      'C12 a small local context',
      400,
      { type: 'exceed_context_size_error', message: 'the request exceeds the available context size' },
      'context_overflow',
    ],
    [
      'a parameter',
      400,
      { message: "Unsupported parameter: 'temperature' is not supported with this model." },
      'bad_request',
    ],
    [
      'CB-05 lines of money talk',
      400,
      { message: 'Unknown tool "402 lines changed, the balance of insufficient funds"' },
      'bad_request',
    ],
    ['an overloaded server', 503, { type: 'overloaded_error', message: 'x' }, 'server'],
  ];

  test.each(byBody)('AF-01 %s', (...[, status, error, expected]) => {
    expect(classifyAnswer(status, { error }).class).toBe(expected);
  });

  test('F11f a page is classed by its status, whatever numbers stand in it', () => {
    const page = `<html><body><h1>400 Bad Request</h1><p>Processed 1400 rows</p>${'<div class="x">.</div>'.repeat(10_000)}</body></html>`;
    const failure = classifyAnswer(503, page);
    expect(failure).toMatchObject({ class: 'server', retryable: true, status: 503 });
    expect(failure.message).toMatch(
      /^HTTP 503 with HTML instead of JSON: 400 Bad Request Processed 1400 rows/,
    );
    expect(failure.message.length).toBeLessThanOrEqual(500);
    expect(failure.message).not.toMatch(/[<>\n]/);
  });

  test('the message holds status, code and text in one line', () => {
    const failure = classifyAnswer(429, {
      error: { code: 'rate_limit_exceeded', message: 'slow\n\tdown\u0000 please' },
    });
    expect(failure.message).toBe('HTTP 429 rate_limit_exceeded: slow down please');
  });

  test('a body without words still gives a message', () => {
    expect(classifyAnswer(500).message).toBe('HTTP 500: no message');
  });

  test('the reset time of an exhausted quota is kept', () => {
    const failure = classifyAnswer(429, { error: { code: 'insufficient_quota' } }, { 'retry-after': '3600' });
    expect(failure).toMatchObject({ class: 'billing', retryable: false, retryAfterMs: 3_600_000 });
  });
});

describe('a thrown error', () => {
  const cases: readonly [name: string, error: unknown, expected: FailureClass, retryable: boolean][] = [
    ['AF-02 a number in a text', new Error('Processed 1400 rows'), 'unknown', true],
    ['AF-02 digits that are no status', new Error('found 429 of 500 items, 400 left'), 'unknown', true],
    ['AF-02 lines that changed', new Error('402 lines changed'), 'unknown', true],
    ['AF-02 a stated status', new Error('HTTP 400: bad field'), 'bad_request', false],
    ['AF-02 an error code', new Error("Error code: 401 - {'error': 'no'}"), 'credential', false],
    ['AF-02 a status and its name', new Error('429 Too Many Requests'), 'throttled', true],
    ['AF-02 a failed status code', new Error('Request failed with status code 503'), 'server', true],
    [
      'AF-05 a file that is missing',
      withFields('ENOENT: no such file', { code: 'ENOENT' }),
      'unknown',
      false,
    ],
    ['AF-05 a reset connection', withFields('read ECONNRESET', { code: 'ECONNRESET' }), 'connection', true],
    ['a refused connection', withFields('x', { code: 'ECONNREFUSED' }), 'connection', true],
    ['a name that does not resolve', withFields('x', { code: 'EAI_AGAIN' }), 'connection', true],
    ['a closed socket', withFields('other side closed', { code: 'UND_ERR_SOCKET' }), 'connection', true],
    ['a time-out of the socket', withFields('x', { code: 'ETIMEDOUT' }), 'time_out', true],
    ['AF-01 a time-out by name', withFields('x', { name: 'TimeoutError' }), 'time_out', true],
    ['a cancellation', withFields('x', { name: 'AbortError' }), 'cancelled', false],
    ['AA-04 something unknown', new Error('strange'), 'unknown', true],
    ['a status field', withFields('x', { status: 404 }), 'bad_request', false],
    ['a statusCode field', withFields('x', { statusCode: 503 }), 'server', true],
    ['a response', withFields('x', { response: { status: 402 } }), 'billing', false],
    ['a numeric code', withFields('x', { code: 529 }), 'server', true],
    ['a code that is a word', withFields('x', { code: 'invalid_api_key' }), 'credential', false],
    ['a status of success', withFields('x', { status: 200 }), 'unknown', true],
    ['a bare text', 'connection reset by peer', 'connection', true],
    ['nothing', undefined, 'unknown', true],
  ];

  test.each(cases)('%s', (...[, error, expected, retryable]) => {
    expect(classifyError(error)).toMatchObject({ class: expected, retryable });
  });

  test('AF-04 the status is found through the cause chain', () => {
    const inner = withFields('inner', { statusCode: 401 });
    const middle = new Error('middle', { cause: inner });
    expect(classifyError(new Error('outer', { cause: middle }))).toMatchObject({
      class: 'credential',
      status: 401,
      message: 'outer (cause: middle (cause: inner))',
    });
  });

  test('AF-04 a chain that bites its tail ends, and so does a long one', () => {
    const first: Error & { cause?: unknown } = new Error('first');
    first.cause = new Error('second', { cause: first });
    expect(classifyError(first).class).toBe('unknown');
    let deep: Error = withFields('root', { status: 401 });
    for (let depth = 0; depth < 20; depth += 1) deep = new Error(`link ${depth}`, { cause: deep });
    expect(classifyError(deep).class).toBe('unknown');
  });

  test('AF-03 AA-05 Retry-After is found on the response in any case', () => {
    const error = withFields('x', {
      response: { status: 429, headers: new Headers({ 'Retry-After': '7' }) },
    });
    expect(classifyError(error).retryAfterMs).toBe(7000);
    expect(
      classifyError(withFields('x', { status: 429, headers: { 'RETRY-AFTER': '7' } })).retryAfterMs,
    ).toBe(7000);
  });

  test('AF-06 a user rule comes before the built-in table', () => {
    const rules: FailureRule[] = [
      { status: 404, text: '^model is loading', class: 'server', retryable: true },
    ];
    const loading = withFields('Model is loading', { status: 404 });
    expect(classifyError(loading, rules)).toMatchObject({ class: 'server', retryable: true, status: 404 });
    expect(classifyError(withFields('no such model', { status: 404 }), rules).class).toBe('bad_request');
    expect(classifyError(loading, [{ class: 'server', retryable: true }]).class).toBe('bad_request');
  });

  test('a long text is cut to 500 characters', () => {
    expect(classifyError(new Error('long '.repeat(10_000))).message.length).toBeLessThanOrEqual(500);
  });
});
