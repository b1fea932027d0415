import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/domain/json.ts';
import { createProvider } from '../../src/providers/lookup.ts';
import { sendJson, startHttpServer, toCompletion } from './http-server.ts';
import type { Reply } from './http-server.ts';
import { failCall, NEVER, toRequest, toSpec } from './requests.ts';
import type { RequestPart } from './requests.ts';

async function serve(reply: Reply) {
  const server = await startHttpServer(reply);
  const provider = createProvider(toSpec({ baseUrl: `${server.baseUrl}/` }), { apiKey: 'sk-very-secret' });
  return {
    provider,
    requests: server.requests,
    call: (part: RequestPart = {}) => provider.call(toRequest(part), NEVER),
    fail: (part: RequestPart = {}) => failCall(provider, part),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const serveJson = (body: unknown, status = 200) => serve((response) => sendJson(response, body, status));

describe('the request', () => {
  test('F15 sends every parameter under its own name, and none that nobody set', async () => {
    await using scene = await serveJson(toCompletion({ content: 'ok' }));
    await scene.call();
    const params: JsonObject = {
      temperature: 0,
      topP: 0.9,
      maxOutputTokens: 256,
      seed: 7,
      stop: 'END',
      presencePenalty: 0.1,
      frequencyPenalty: 0.2,
      reasoningEffort: 'low',
      extraBody: { verbosity: 'low', top_k: 3 },
    };
    await scene.call({ params });
    const [bare, full] = scene.requests;
    expect(bare?.body).toEqual({
      model: 'some-model',
      messages: [{ role: 'user', content: 'What is the capital of France?' }],
    });
    expect(full?.body).toMatchObject({
      temperature: 0,
      top_p: 0.9,
      max_tokens: 256,
      seed: 7,
      stop: ['END'],
      presence_penalty: 0.1,
      frequency_penalty: 0.2,
      reasoning_effort: 'low',
      verbosity: 'low',
      top_k: 3,
    });
    expect(full?.path).toBe('/v1/chat/completions');
    expect(full?.headers.authorization).toBe('Bearer sk-very-secret');
  });

  test.each([
    ['gpt-5-mini', 'max_completion_tokens'],
    ['openai/o3', 'max_completion_tokens'],
    ['gpt-4o', 'max_tokens'],
    ['gpt-oss-20b', 'max_tokens'],
  ])('F15 the cap of %s arrives as %s', async (model, field) => {
    await using scene = await serveJson(toCompletion({ content: 'ok' }));
    await scene.call({ model, params: { maxOutputTokens: 5 }, maxOutputTokens: 256 });
    const body = scene.requests[0]?.body ?? {};
    expect(body[field]).toBe(256);
    expect(Object.keys(body).filter((name) => name.startsWith('max_'))).toEqual([field]);
  });

  test("F15 a refused parameter is the server's sentence after one call", async () => {
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    await using scene = await serveJson({ error: { message, param: 'temperature' } }, 400);
    const error = await scene.fail({ params: { temperature: 0 } });
    expect(error.classified).toMatchObject({ class: 'bad_request', retryable: false });
    expect(error.message).toContain(message);
    expect(scene.requests).toHaveLength(1);
  });

  test('F19 the history holds arguments that parse, names that servers take, and every tool result', async () => {
    await using scene = await serveJson(toCompletion({ content: 'done' }));
    const calls = [
      { id: 'a', name: 'read_file', arguments: { kind: 'unreadable' as const, text: '{"path": "a.tx' } },
      { id: 'b', name: 'functions.bash', arguments: { kind: 'parsed' as const, value: { command: 'ls' } } },
      { id: 'c', name: '', arguments: { kind: 'parsed' as const, value: {} } },
    ];
    await scene.call({
      messages: [
        { role: 'system', text: 'Be brief.' },
        { role: 'user', text: 'go' },
        { role: 'assistant', text: '', reasoning: 'hm', toolCalls: calls },
        { role: 'tool', toolCallId: 'a', toolName: 'read_file', text: 'no JSON', status: 'error' },
        { role: 'tool', toolCallId: 'b', toolName: 'functions.bash', text: 'ok', status: 'success' },
        { role: 'tool', toolCallId: 'c', toolName: '', text: 'unknown tool', status: 'error' },
      ],
      tools: [{ name: 'read_file', description: 'Reads', parameters: { type: 'object' } }],
    });
    expect(scene.requests[0]?.body['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'read_file', arguments: '{}' } },
          { id: 'b', type: 'function', function: { name: 'functions_bash', arguments: '{"command":"ls"}' } },
          { id: 'c', type: 'function', function: { name: 'unnamed', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'no JSON' },
      { role: 'tool', tool_call_id: 'b', content: 'ok' },
      { role: 'tool', tool_call_id: 'c', content: 'unknown tool' },
    ]);
    expect(scene.requests[0]?.body['tools']).toEqual([
      {
        type: 'function',
        function: { name: 'read_file', description: 'Reads', parameters: { type: 'object' } },
      },
    ]);
  });

  test('thoughts go back only when they are asked for', async () => {
    await using scene = await serveJson(toCompletion({ content: 'ok' }));
    const messages = [{ role: 'assistant' as const, text: 'a', reasoning: 'because', toolCalls: [] }];
    await scene.call({ messages });
    await scene.call({ messages, params: { sendReasoning: true } });
    expect(scene.requests.map((one) => one.text.includes('because'))).toEqual([false, true]);
  });
});

describe('the answer', () => {
  test('F12 a list of parts is text, thoughts and a note', async () => {
    const content = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Lyon? No.' }] },
      { type: 'text', text: 'Par' },
      { type: 'text', text: 'is' },
      { type: 'reference', ids: [3] },
    ];
    await using scene = await serveJson(toCompletion({ content }));
    const answer = await scene.call();
    expect(answer.message).toMatchObject({ text: 'Paris', reasoning: 'Lyon? No.' });
    expect(answer.notes).toEqual(['ignored a content part of type "reference"']);
    expect(answer.usage).toMatchObject({ inputTokens: 9, outputTokens: 7, reasoningTokens: null });
    expect(answer.answerId).toBe('answer-1');
  });

  test.each(['reasoning_content', 'reasoning'])('F12 thoughts in %s stay apart', async (field) => {
    await using scene = await serveJson(toCompletion({ content: 'Paris', [field]: 'Lyon? No.' }));
    expect((await scene.call()).message).toMatchObject({ text: 'Paris', reasoning: 'Lyon? No.' });
  });

  test('F13 an answer that was all thinking is an answer that was cut, with its tokens', async () => {
    const details = { completion_tokens_details: { reasoning_tokens: 16 } };
    const usage = { prompt_tokens: 9, completion_tokens: 16, total_tokens: 25, ...details };
    await using scene = await serveJson(toCompletion({ content: '' }, { usage }, 'length'));
    const answer = await scene.call();
    expect(answer).toMatchObject({ finishReason: 'length', message: { text: '' } });
    expect(answer.usage).toMatchObject({ outputTokens: 16, reasoningTokens: 16 });
    expect(scene.requests).toHaveLength(1);
  });

  test('F13 a think tag without its end stays text', async () => {
    const text = '<think>step one, step two';
    await using scene = await serveJson(toCompletion({ content: text }, {}, 'length'));
    expect(await scene.call()).toMatchObject({ finishReason: 'length', message: { text, reasoning: null } });
  });

  test('usage keeps cached and reasoning tokens and the cost that was stated', async () => {
    const usage = {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 150,
      cost: 0.0123,
      prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
      completion_tokens_details: { reasoning_tokens: 30 },
    };
    await using scene = await serveJson(toCompletion({ content: 'x' }, { usage }));
    const answer = await scene.call();
    expect(answer.usage).toEqual({
      inputTokens: 100,
      outputTokens: 50,
      reasoningTokens: 30,
      cacheReadTokens: 60,
      cacheWriteTokens: 10,
    });
    expect(answer.reportedCostUsd).toBe(0.0123);
  });

  test.each([
    ['no usage', undefined],
    ['null', null],
    ['zeros for an answer with text', { prompt_tokens: 0, completion_tokens: 0 }],
    ['numbers that are none', { prompt_tokens: -1, completion_tokens: '7' }],
  ])('%s is unknown, never 0', async (_name, usage) => {
    await using scene = await serveJson(toCompletion({ content: 'x' }, { usage }));
    expect((await scene.call()).usage).toMatchObject({ inputTokens: null, outputTokens: null });
  });

  test('F19 tool calls come whole, whatever shape they have', async () => {
    const tool_calls = [
      { id: 'one', function: { name: 'list_files', arguments: '' } },
      { id: 'one', function: { name: 'read_file', arguments: { path: 'a' } } },
      { function: { name: '', arguments: null } },
      { id: null, function: { name: 'bash', arguments: '[1]' } },
    ];
    await using scene = await serveJson(toCompletion({ content: null, tool_calls }));
    const { message, finishReason } = await scene.call();
    expect(message.toolCalls).toEqual([
      { id: 'one', name: 'list_files', arguments: { kind: 'parsed', value: {} } },
      { id: 'c00001002', name: 'read_file', arguments: { kind: 'parsed', value: { path: 'a' } } },
      { id: 'c00001003', name: '', arguments: { kind: 'parsed', value: {} } },
      { id: 'c00001004', name: 'bash', arguments: { kind: 'unreadable', text: '[1]' } },
    ]);
    expect(finishReason).toBe('tool_calls');
  });

  test('a refusal is text with the finish reason content_filter', async () => {
    await using scene = await serveJson(toCompletion({ content: null, refusal: 'I cannot.' }));
    expect(await scene.call()).toMatchObject({
      finishReason: 'content_filter',
      message: { text: 'I cannot.' },
    });
  });

  test('an empty answer is an answer', async () => {
    await using scene = await serveJson(toCompletion({ content: null }));
    expect(await scene.call()).toMatchObject({ finishReason: 'stop', message: { text: '', toolCalls: [] } });
  });

  test.each([
    ['max_tokens', 'length'],
    ['eos', 'stop'],
    ['content_filter', 'content_filter'],
    ['strange', 'other'],
  ])('finish reason %s is %s', async (given, expected) => {
    await using scene = await serveJson(toCompletion({ content: 'x' }, {}, given));
    expect((await scene.call()).finishReason).toBe(expected);
  });
});

describe('health', () => {
  test.each([
    [200, /^answers$/],
    [404, /^answers$/],
    [405, /^answers$/],
    [501, /^answers$/],
    [401, /^the key was refused: HTTP 401: no such key/],
    [403, /^the key was refused/],
    [503, /is not well: HTTP 503: no such key/],
  ])('status %i of the model list', async (status, expected) => {
    await using scene = await serveJson({ error: { message: 'no such key' } }, status);
    const reason = await scene.provider.checkHealth(NEVER);
    expect(reason ?? 'answers').toMatch(expected);
    expect(scene.requests[0]).toMatchObject({ method: 'GET', path: '/v1/models' });
  });

  test('an address where nobody listens is named with the reason', async () => {
    const server = await startHttpServer(() => {});
    await server[Symbol.asyncDispose]();
    const provider = createProvider(toSpec({ baseUrl: server.baseUrl }), { apiKey: null });
    expect(await provider.checkHealth(NEVER)).toMatch(/models does not answer: .*ECONNREFUSED/);
  });
});
