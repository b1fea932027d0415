import { describe, expect, test } from 'vitest';
import { createProvider } from '../../src/providers/lookup.ts';
import { sendEvents, sendJson, startHttpServer, toCompletion } from './http-server.ts';
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

describe('a stream', () => {
  const toChunk = (delta: object, finish: string | null = null) => ({
    id: 'answer-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const serveEvents = (events: readonly unknown[], end: 'end' | 'cut' | 'stay' = 'end') =>
    serve((response) => {
      sendEvents(response, events);
      if (end === 'end') response.end();
      if (end === 'cut') setTimeout(() => response.socket?.destroy(), 20);
    });

  test('F12 parts, thoughts and usage of a stream are those of the plain answer', async () => {
    await using scene = await serveEvents([
      toChunk({
        role: 'assistant',
        content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Lyon? ' }] }],
      }),
      toChunk({ reasoning_content: 'No.' }),
      toChunk({
        content: [
          { type: 'text', text: 'Par' },
          { type: 'reference', ids: [3] },
        ],
      }),
      toChunk({ content: 'is' }, 'stop'),
      { choices: [], usage: { prompt_tokens: 9, completion_tokens: 7, total_tokens: 16 } },
      '[DONE]',
    ]);
    const answer = await scene.call({ stream: true });
    expect(answer.message).toMatchObject({ text: 'Paris', reasoning: 'Lyon? No.' });
    expect(answer.notes).toEqual(['ignored a content part of type "reference"']);
    expect(answer.usage).toMatchObject({ inputTokens: 9, outputTokens: 7 });
    expect(scene.requests[0]?.body).toMatchObject({ stream: true, stream_options: { include_usage: true } });
  });

  test('F19 pieces of several tool calls find their call', async () => {
    const call = (fields: object) => toChunk({ tool_calls: [fields] });
    await using scene = await serveEvents([
      call({ index: 0, id: 'a', function: { name: 'bash', arguments: '{"com' } }),
      call({ index: 1, id: 'b', function: { name: 'list_files' } }),
      call({ index: 0, function: { arguments: 'mand":"ls"}' } }),
      call({ index: 2, function: { arguments: '' } }),
      toChunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    const { toolCalls } = (await scene.call({ stream: true })).message;
    expect(toolCalls).toEqual([
      { id: 'a', name: 'bash', arguments: { kind: 'parsed', value: { command: 'ls' } } },
      { id: 'b', name: 'list_files', arguments: { kind: 'parsed', value: {} } },
      { id: 'c00001003', name: '', arguments: { kind: 'parsed', value: {} } },
    ]);
  });

  test('a stream that stops before its end is a connection failure', async () => {
    await using ended = await serveEvents([toChunk({ content: 'Pa' })]);
    const error = await ended.fail({ stream: true });
    expect(error.classified).toMatchObject({ class: 'connection', retryable: true });
    expect(error.message).toBe('the stream stopped after 1 events, before its end was announced');
    await using cut = await serveEvents([toChunk({ content: 'Pa' })], 'cut');
    expect((await cut.fail({ stream: true })).classified).toMatchObject({
      class: 'connection',
      retryable: true,
    });
  });

  test('a stream that was finished when its connection broke is an answer with a note', async () => {
    await using scene = await serveEvents([toChunk({ content: 'Paris' }, 'stop')], 'cut');
    const answer = await scene.call({ stream: true });
    expect(answer.message.text).toBe('Paris');
    expect(answer.notes).toEqual(['the connection broke after the answer was complete']);
  });

  test('the answer is there at [DONE], although the connection stays open', async () => {
    await using scene = await serveEvents([toChunk({ content: 'Paris' }, 'stop'), '[DONE]'], 'stay');
    expect((await scene.call({ stream: true })).message.text).toBe('Paris');
  });

  test('F11 an error in the middle of a stream is classed by its code, at once', async () => {
    await using scene = await serveEvents(
      [toChunk({ content: 'Pa' }), { error: { code: 429, message: 'busy' } }],
      'stay',
    );
    expect((await scene.fail({ stream: true })).classified).toMatchObject({
      class: 'throttled',
      retryable: true,
    });
  });

  test('an event that is no JSON is named', async () => {
    await using scene = await serveEvents([toChunk({ content: 'Pa' }), '{"choices": [', '[DONE]']);
    const error = await scene.fail({ stream: true });
    expect(error.classified.class).toBe('bad_answer');
    expect(error.message).toMatch(/^malformed JSON in event 2 of the stream/);
  });

  test('letters that are cut between two packets stay whole', async () => {
    const bytes = Buffer.from(
      `data: ${JSON.stringify(toChunk({ content: 'Zürich 🏔' }, 'stop'))}\r\n\r\ndata: [DONE]\r\n\r\n`,
    );
    await using scene = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
      for (let at = 0; at < bytes.length; at += 7) {
        response.write(bytes.subarray(at, at + 7));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end();
    });
    expect((await scene.call({ stream: true })).message.text).toBe('Zürich 🏔');
  });

  test('a plain body in reply to a stream request is read as one', async () => {
    await using scene = await serve((response) => sendJson(response, toCompletion({ content: 'Paris' })));
    expect((await scene.call({ stream: true })).message.text).toBe('Paris');
  });
});
