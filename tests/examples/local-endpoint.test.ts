import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { createChatServer } from '../../examples/local-endpoint/server/chat-server.ts';
import type { Completion, TextModel } from '../../examples/local-endpoint/server/text-model.ts';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun } from '../../src/config/load.ts';
import { createProvider } from '../../src/providers/lookup.ts';
import { failCall, NEVER, toRequest, toSpec } from '../providers/requests.ts';

const example = join(import.meta.dirname, '../../examples/local-endpoint');
const closing: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Says the last question of its prompt in capitals, a word at a time. */
function createEcho(change: Partial<TextModel> = {}): TextModel {
  const countTokens = (text: string): number => text.split(/\s+/).length;
  return {
    name: 'echo',
    contextTokens: 100,
    countTokens,
    complete: async ({ prompt, maxTokens, onText }) => {
      const question = /Question: (.*)\nAnswer:$/.exec(prompt)?.[1] ?? '';
      const words = question.toUpperCase().split(' ').slice(0, maxTokens);
      for (const word of words) onText(` ${word}`);
      const finishReason = words.length < countTokens(question) ? 'length' : 'stop';
      return { finishReason, inputTokens: countTokens(prompt), outputTokens: words.length };
    },
    ...change,
  };
}

async function serve(model: TextModel) {
  const server = createChatServer(model).listen(0, '127.0.0.1');
  closing.push(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  return { baseUrl, provider: createProvider(toSpec({ baseUrl }), { apiKey: null }) };
}

const ask = (text: string, part: object = {}) => ({
  model: 'echo',
  messages: [{ role: 'user' as const, text }],
  ...part,
});

test.each([
  ['run.yaml', ['my-model']],
  ['demo.yaml', ['likeliest', 'by-chance']],
])('%s of the example loads with its 24 questions', async (name, models) => {
  const path = join(example, name);
  const loaded = await loadRun({ source: { kind: 'file', path }, catalog: createBuiltInCatalog() });
  expect(loaded.warnings).toEqual([]);
  expect(loaded.spec.models.map(({ id }) => id)).toEqual(models);
  const [suite] = [...loaded.suites.values()];
  expect(suite?.cases.filter(({ target }) => target !== null)).toHaveLength(24);
  const kinds = suite?.cases.flatMap(
    ({ testCase }) => testCase.scorers?.map(({ kind }) => kind) ?? ['exact'],
  );
  expect(new Set(kinds)).toEqual(new Set(['exact', 'includes', 'numeric', 'choice', 'json']));
});

test.each([false, true])(
  'the example server answers a call of Assay with its usage (stream %s)',
  async (stream) => {
    const { provider } = await serve(createEcho());
    const answer = await provider.call(toRequest(ask('Say this aloud', { stream })), NEVER);
    expect(answer.message.text).toBe('SAY THIS ALOUD');
    expect(answer).toMatchObject({ finishReason: 'stop', usage: { inputTokens: 5, outputTokens: 3 } });
    const cut = await provider.call(toRequest(ask('Say this aloud', { stream, maxOutputTokens: 2 })), NEVER);
    expect(cut).toMatchObject({ finishReason: 'length', message: { text: 'SAY THIS' } });
  },
);

test('earlier turns become examples of the pattern that a base model follows', async () => {
  let prompt = '';
  const spy = createEcho();
  const { provider } = await serve({
    ...spy,
    complete: (completion) => ((prompt = completion.prompt), spy.complete(completion)),
  });
  const messages = [
    { role: 'system' as const, text: 'Be brief.' },
    { role: 'user' as const, text: '1 + 1?' },
    { role: 'assistant' as const, text: '2', reasoning: null, toolCalls: [] },
    { role: 'user' as const, text: '2 + 2?' },
  ];
  await provider.call(toRequest({ model: 'echo', messages }), NEVER);
  expect(prompt).toBe('Be brief.\n\nQuestion: 1 + 1?\nAnswer: 2\n\nQuestion: 2 + 2?\nAnswer:');
});

test('the example server says what is wrong in the form that Assay sorts', async () => {
  const broken = createEcho({ complete: () => Promise.reject(new Error('out of memory')) });
  const { provider } = await serve(createEcho());
  expect(await failCall(provider, { ...ask('x'), model: 'other' })).toMatchObject({
    message: expect.stringContaining('there is no model "other" here; this server has "echo"'),
    classified: { status: 404, retryable: false },
  });
  expect(await failCall(provider, ask('long '.repeat(200)))).toMatchObject({
    classified: { class: 'context_overflow' },
  });
  expect(await failCall(provider, ask('x', { params: { presencePenalty: 1 } }))).toMatchObject({
    message: expect.stringContaining('"presence_penalty" is not supported by this model'),
    classified: { status: 400, retryable: false },
  });
  const failing = await serve(broken);
  expect(await failCall(failing.provider, ask('x'))).toMatchObject({
    message: expect.stringContaining('out of memory'),
    classified: { status: 500, retryable: true },
  });
});

test('requests wait for each other in order, too many get 429, and one whose client left is not begun', async () => {
  const begun: Completion[] = [];
  const gate = Promise.withResolvers<void>();
  const echo = createEcho();
  const { provider, baseUrl } = await serve({
    ...echo,
    complete: async (completion) => {
      begun.push(completion);
      await gate.promise;
      return await echo.complete(completion);
    },
  });
  const waiting = async (): Promise<number> => {
    const { waiting } = (await (await fetch(new URL('/health', baseUrl))).json()) as { waiting: number };
    return waiting;
  };
  const left = new AbortController();
  const first = provider.call(toRequest(ask('first')), NEVER);
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  const leaving = provider.call(toRequest(ask('leaving')), left.signal).catch(() => 'left');
  await vi.waitFor(async () => expect(await waiting()).toBe(2));
  const crowd = Array.from({ length: 64 }, (_, index) =>
    provider.call(toRequest(ask(`n${index}`)), NEVER).then(
      ({ message }) => message.text,
      (error: unknown) => error,
    ),
  );
  expect(await Promise.race(crowd)).toMatchObject({
    classified: { class: 'throttled', retryAfterMs: 1000 },
  });
  left.abort(new Error('gone'));
  expect(await leaving).toBe('left');
  await vi.waitFor(async () => expect(await waiting()).toBe(64));
  gate.resolve();
  expect((await first).message.text).toBe('FIRST');
  const ends = await Promise.all(crowd);
  expect(ends.filter((end) => typeof end === 'string')).toHaveLength(63);
  expect(begun.map(({ prompt }) => prompt).join()).not.toContain('leaving');
});
