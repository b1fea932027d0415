import { createProvider } from '../../src/providers/lookup.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import { testProviderContract } from './contract.ts';
import type { Scene } from './contract.ts';
import { sendEvents, sendJson, startHttpServer, toCompletion } from './http-server.ts';
import type { Reply } from './http-server.ts';
import { toSpec } from './requests.ts';

async function serve(reply: Reply, stream: boolean): Promise<Scene> {
  const server = await startHttpServer((response, seen, number) =>
    seen.method === 'GET' ? sendJson(response, { data: [] }) : reply(response, seen, number),
  );
  const provider = createProvider(toSpec({ baseUrl: server.baseUrl }), { apiKey: null });
  return { provider, request: { stream }, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

testProviderContract('openai-compatible', {
  says: (text) => serve((response) => sendJson(response, toCompletion({ content: text })), false),
  callsTool: (tool) =>
    serve((response) => {
      const call = { id: '', type: 'function', function: tool };
      sendJson(response, toCompletion({ content: null, tool_calls: [call] }, {}, 'tool_calls'));
    }, false),
  fails: (status, text) =>
    serve((response) => sendJson(response, { error: { message: text } }, status), false),
  hangs: () => serve(() => {}, false),
});

const toChunk = (delta: object, finish: string | null = null) => ({
  id: 'answer-1',
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const USAGE = { id: 'answer-1', choices: [], usage: { prompt_tokens: 9, completion_tokens: 7 } };

testProviderContract('openai-compatible, streaming', {
  says: (text) =>
    serve((response) => {
      const parts = text.split('').map((letter) => toChunk({ content: letter }));
      sendEvents(response, [toChunk({ role: 'assistant' }), ...parts, toChunk({}, 'stop'), USAGE, '[DONE]']);
      response.end();
    }, true),
  callsTool: (tool) =>
    serve((response) => {
      const letters = tool.arguments
        .split('')
        .map((letter) => toChunk({ tool_calls: [{ index: 0, function: { arguments: letter } }] }));
      const start = toChunk({ tool_calls: [{ index: 0, function: { name: tool.name, arguments: '' } }] });
      sendEvents(response, [start, ...letters, toChunk({}, 'tool_calls'), USAGE, '[DONE]']);
      response.end();
    }, true),
  fails: (status, text) =>
    serve((response) => sendJson(response, { error: { message: text } }, status), true),
  hangs: () => serve((response) => sendEvents(response, [toChunk({ content: 'Pa' })]), true),
});

const mock = async (model: string, params: JsonObject): Promise<Scene> => ({
  provider: createProvider(toSpec({ kind: 'mock' }), { apiKey: null }),
  request: { model, params },
  async [Symbol.asyncDispose]() {},
});

testProviderContract('mock', {
  says: (text) => mock('fixed', { text }),
  callsTool: (tool) => {
    const branch = [{ tools: [tool] }];
    return mock('script', { script: { cases: {}, default: { good: branch, bad: branch } } });
  },
  fails: (status, text) => mock('fixed', { text: 'x', faults: [{ fault: { status, text } }] }),
  hangs: () => mock('fixed', { text: 'x', faults: [{ fault: { kind: 'hang' } }] }),
});
