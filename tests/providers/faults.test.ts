import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FailureClass } from '../../src/domain/failure.ts';
import { createProvider } from '../../src/providers/lookup.ts';
import { ProviderError } from '../../src/providers/provider-error.ts';
import { sendJson, startHttpServer, toCompletion } from './http-server.ts';
import type { Reply } from './http-server.ts';
import { failCall, NEVER, toRequest, toSpec } from './requests.ts';
import type { RequestPart } from './requests.ts';

async function serve(reply: Reply) {
  const server = await startHttpServer(reply);
  const provider = createProvider(toSpec({ baseUrl: server.baseUrl }), { apiKey: 'sk-very-secret' });
  return {
    requests: server.requests,
    call: (part: RequestPart = {}) => provider.call(toRequest(part), NEVER),
    fail: (part: RequestPart = {}) => failCall(provider, part),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const serveText = (text: string, type = 'application/json', status = 200) =>
  serve((response) => {
    response.writeHead(status, { 'content-type': type }).end(text);
  });

describe('F11 bodies that are not answers', () => {
  const gone = {
    finish_reason: 'error',
    error: { code: 502, message: 'provider gone' },
    message: { content: '' },
  };
  const bodies: readonly [
    name: string,
    body: string,
    expected: FailureClass,
    retryable: boolean,
    message: RegExp,
  ][] = [
    [
      'a: an error with code 429',
      '{"error":{"message":"upstream is busy","code":429}}',
      'throttled',
      true,
      /status 200.*: upstream is busy/,
    ],
    [
      'b: an error with code 402',
      '{"error":{"message":"no credits left","code":402}}',
      'billing',
      false,
      /no credits left/,
    ],
    ['c: no choices', '{"id":"x","choices":[]}', 'bad_answer', true, /status 200 and no choices/],
    [
      'd: a choice that ended in an error',
      JSON.stringify({ choices: [gone] }),
      'server',
      true,
      /provider gone/,
    ],
    ['an error that is a text', '{"error":"Invalid API key"}', 'credential', false, /Invalid API key/],
    ['a bare message', '{"code":1302,"msg":"too many requests"}', 'throttled', true, /too many requests/],
    ['broken JSON', '{"choices":[{"message"', 'bad_answer', true, /malformed JSON with status 200/],
    [
      'NaN in JSON',
      '{"choices":[{"message":{"content":"x"},"logprob":NaN}]}',
      'bad_answer',
      true,
      /malformed JSON/,
    ],
    ['an empty body', '', 'bad_answer', true, /empty body with status 200/],
    ['JSON that is no object', '"hello"', 'bad_answer', true, /JSON that is no object/],
  ];

  test.each(bodies)('F11 %s', async (...[, body, expected, retryable, message]) => {
    await using scene = await serveText(body);
    const error = await scene.fail();
    expect(error.classified).toMatchObject({ class: expected, retryable });
    expect(error.message).toMatch(message);
    expect(scene.requests).toHaveLength(1);
  });

  test('F11e a page with status 200 says that HTML came, without the markup', async () => {
    const page = `<!doctype html><html><head><title>Sign in</title><style>p{x:y}</style></head><body><p>Please sign in</p>${'<i></i>'.repeat(9000)}</body></html>`;
    await using scene = await serveText(page, 'text/html');
    const error = await scene.fail();
    expect(error.classified.class).toBe('bad_answer');
    expect(error.message).toMatch(/^HTML instead of JSON with status 200.*Sign in.*Please sign in/);
    expect(error.message).not.toMatch(/[<>{]/);
    expect(error.message.length).toBeLessThanOrEqual(500);
  });

  test('F11f a page with status 503 is classed by its status', async () => {
    const page = `<h1>400 Bad Request</h1><p>Processed 1400 rows</p>${'<b>.</b>'.repeat(25_000)}`;
    await using scene = await serveText(page, 'text/html', 503);
    expect((await scene.fail()).classified).toMatchObject({ class: 'server', retryable: true, status: 503 });
  });

  test('tokens that a failed answer reports are kept', async () => {
    const usage = { prompt_tokens: 5, completion_tokens: 0 };
    await using scene = await serveText(JSON.stringify({ choices: [gone], usage }));
    expect((await scene.fail()).usage).toMatchObject({ inputTokens: 5, outputTokens: 0 });
  });

  test('AF-03 the wait that a 429 asks for is read from its headers', async () => {
    await using scene = await serve((response) => {
      response.writeHead(429, { 'Retry-After': '7' }).end('slow down');
    });
    expect((await scene.fail()).classified).toMatchObject({ class: 'throttled', retryAfterMs: 7000 });
  });

  test('a redirect is not followed, so that the key goes nowhere else', async () => {
    await using scene = await serve((response) => {
      response.writeHead(307, { location: 'http://127.0.0.1:9/elsewhere' }).end();
    });
    expect((await scene.fail()).classified).toMatchObject({
      class: 'bad_request',
      retryable: false,
      status: 307,
    });
  });

  test('a key that the server repeats is not in the message', async () => {
    await using scene = await serveText(
      '{"error":{"message":"Bad key sk-very-secret!"}}',
      'application/json',
      401,
    );
    const error = await scene.fail();
    expect(error.message).toBe('HTTP 401: Bad key [key]!');
    expect(JSON.stringify(error.classified)).not.toContain('very-secret');
  });
});

describe('any body', () => {
  const anything = fc.jsonValue({ maxDepth: 3 });
  const call = fc.record({ id: anything, function: fc.record({ name: anything, arguments: anything }) });
  const message = fc.record({
    content: fc.oneof(anything, fc.array(fc.record({ type: anything, text: anything, thinking: anything }))),
    reasoning_content: anything,
    refusal: anything,
    tool_calls: fc.oneof(anything, fc.array(fc.oneof(call, anything))),
  });
  const choice = fc.record({ message: fc.oneof(message, anything), finish_reason: anything });
  const choices = fc.oneof(fc.array(fc.oneof(choice, anything)), anything);
  const body = fc.oneof(
    { weight: 9, arbitrary: fc.record({ id: anything, choices, usage: anything }) },
    anything,
  );

  test('F11 F12 F19 is an answer or a bad answer, never an error of our own', async () => {
    let reply: unknown = null;
    await using scene = await serve((response) => sendJson(response, reply));
    await fc.assert(
      fc.asyncProperty(body, async (sent) => {
        reply = sent;
        const end = await scene.call().catch((error: unknown) => error);
        const kind = end instanceof ProviderError ? end.classified.class : 'answer';
        expect(['answer', 'bad_answer', 'server']).toContain(kind);
      }),
      { numRuns: 150 },
    );
  });
});

describe('CB-10 no evidence of a model', () => {
  const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };

  test.each(['API Error: 402 insufficient credits', 'HTTP 503 upstream', 'Insufficient balance'])(
    'CB-10 zero tokens and the text "%s"',
    async (content) => {
      await using scene = await serveText(JSON.stringify(toCompletion({ content }, { usage: zero })));
      expect((await scene.fail()).classified).toMatchObject({ class: 'no_evidence', retryable: false });
    },
  );

  test("CB-10 an error text with tokens, or without any count, is the model's", async () => {
    const content = 'Error: the file is missing';
    const bodies = [toCompletion({ content }), toCompletion({ content }, { usage: undefined })];
    await using scene = await serve((response, _seen, number) => sendJson(response, bodies[number - 1]));
    expect((await scene.call()).message.text).toBe(content);
    expect((await scene.call()).message.text).toBe(content);
  });
});
