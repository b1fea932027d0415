import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { ANSWER_LIMIT_CHARACTERS } from '../../src/providers/answer-body.ts';
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

describe('C23 time-outs and connections', () => {
  test('C16 C23 a server that accepts and never answers meets the first-byte timer', async () => {
    await using scene = await serve(() => {});
    const error = await scene.fail({ timeouts: { firstByteMs: 80 } });
    expect(error.classified).toMatchObject({ class: 'time_out', retryable: true });
    expect(error.message).toMatch(/timer "first byte", limit 80 ms, measured \d+ ms, phase run/);
  });

  test('C23 an answer that stops in its middle meets the idle timer', async () => {
    await using scene = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"choices":[');
    });
    expect((await scene.fail({ timeouts: { idleMs: 80 } })).message).toMatch(/timer "idle", limit 80 ms/);
  });

  test('an answer that comes slowly but steadily outlives the idle limit', async () => {
    await using scene = await serve(async (response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      for (const piece of JSON.stringify(toCompletion({ content: 'Paris' })).match(/.{1,20}/g) ?? []) {
        response.write(piece);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      response.end();
    });
    expect((await scene.call({ timeouts: { idleMs: 250 } })).message.text).toBe('Paris');
  });

  test('a connection that nobody takes is named with its code', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const provider = createProvider(toSpec({ baseUrl: `http://127.0.0.1:${port}/v1` }), { apiKey: null });
    const error = await failCall(provider);
    expect(error.classified).toMatchObject({ class: 'connection', retryable: true });
    expect(error.message).toContain('ECONNREFUSED');
  });

  test('AF-05 a connection that is cut is retryable', async () => {
    await using scene = await serve((response) => {
      response.socket?.destroy();
    });
    expect((await scene.fail()).classified).toMatchObject({ class: 'connection', retryable: true });
  });

  test('an abort closes the connection at once', async () => {
    const closed = Promise.withResolvers<void>();
    const server = await startHttpServer((response) => {
      response.on('close', () => closed.resolve());
    });
    const provider = createProvider(toSpec({ baseUrl: server.baseUrl }), { apiKey: null });
    const controller = new AbortController();
    const call = provider.call(toRequest(), controller.signal);
    setTimeout(() => controller.abort(new Error('enough')), 30);
    await expect(call).rejects.toThrow('enough');
    await closed.promise;
    await server[Symbol.asyncDispose]();
  });

  test('an answer above 64 MiB is refused', async () => {
    await using scene = await serve((response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const block = Buffer.alloc(8 * 1024 * 1024, 0x20);
      for (let count = 0; count < 9; count += 1) response.write(block);
    });
    const error = await scene.fail();
    expect(error.classified).toMatchObject({ class: 'bad_answer', retryable: false });
    expect(error.message).toBe('the answer is larger than 64 MiB');
  });

  test.each([false, true])(
    "a text longer than scorers take is the model's error (streamed: %s)",
    async (stream) => {
      const content = 'x'.repeat(ANSWER_LIMIT_CHARACTERS + 1);
      await using scene = await serve((response) => {
        if (!stream) return sendJson(response, toCompletion({ content }));
        const usage = { prompt_tokens: 9, completion_tokens: 7 };
        sendEvents(response, [
          { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }], usage },
          '[DONE]',
        ]);
      });
      const error = await scene.fail({ stream });
      expect(error.classified).toMatchObject({ class: 'bad_request', retryable: false });
      expect(error.message).toContain('lower params.maxOutputTokens');
      expect(error.usage).toMatchObject({ inputTokens: 9, outputTokens: 7 });
    },
  );
});
