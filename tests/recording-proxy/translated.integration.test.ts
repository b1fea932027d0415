import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3, LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordingProxy } from '../../src/activities/recording-proxy.ts';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { openProxySubject, type ProxySubject } from './subject.ts';
import { post, WIRES } from './wire-cases.ts';

let subject: ProxySubject;
beforeAll(async () => {
  subject = await openProxySubject();
});
afterAll(() => subject.close());

type Client = { readonly name: string; readonly open: (proxy: RecordingProxy) => LanguageModelV3 };

const CLIENTS: readonly Client[] = [
  {
    name: 'the AI SDK of OpenAI, chat',
    open: ({ baseUrls, token }) => createOpenAI({ baseURL: baseUrls.openai, apiKey: token }).chat('tiny-1'),
  },
  {
    name: 'the AI SDK of OpenAI, responses',
    open: ({ baseUrls, token }) =>
      createOpenAI({ baseURL: baseUrls.openai, apiKey: token }).responses('tiny-1'),
  },
  {
    name: 'the AI SDK for compatible servers',
    open: ({ baseUrls, token }) =>
      createOpenAICompatible({ name: 'x', baseURL: baseUrls.openai, apiKey: token, includeUsage: true })(
        'tiny-1',
      ),
  },
  {
    name: 'the AI SDK of Anthropic',
    open: ({ baseUrls, token }) =>
      createAnthropic({ baseURL: `${baseUrls.anthropic}/v1`, apiKey: token })('tiny-1'),
  },
  {
    name: 'the AI SDK of Google',
    open: ({ baseUrls, token }) =>
      createGoogleGenerativeAI({ baseURL: `${baseUrls.google}/v1beta`, apiKey: token })('tiny-1'),
  },
];

const SCRIPT = [
  {
    say: 'I look at the file first, because it says what is wrong and what is not.',
    tools: [{ name: 'bash', arguments: { command: 'cat "the file".txt | head -n 100', text: 'ä – 漢字' } }],
    usage: { inputTokens: 30, outputTokens: 12 },
  },
  { say: 'Done.', usage: { inputTokens: 50, outputTokens: 3 } },
];

const mock = (params: object, more: object = {}) => ({
  provider: { kind: 'mock' },
  model: {
    model: 'script',
    params: { script: { cases: {}, default: { good: SCRIPT, bad: [] } }, ...params },
  },
  ...more,
});

const TOOLS = [
  {
    type: 'function' as const,
    name: 'bash',
    description: 'Runs a command.',
    inputSchema: { type: 'object' as const, properties: { command: { type: 'string' as const } } },
  },
];
const USER = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Mend it.' }] };

async function collect(parts: ReadableStream<LanguageModelV3StreamPart>) {
  const seen: LanguageModelV3StreamPart[] = [];
  for await (const part of parts) seen.push(part);
  const errors = seen.filter((part) => part.type === 'error');
  expect(errors).toEqual([]);
  const text = seen.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  const calls = seen.filter((part) => part.type === 'tool-call');
  const finish = seen.find((part) => part.type === 'finish');
  return { text, calls, finish, deltas: seen.filter((part) => part.type === 'text-delta').length };
}

describe.each(CLIENTS)('with $name as the agent', ({ open }) => {
  test('a scripted model answers in the form that it is asked in, tools included', async () => {
    await using opened = await subject.open(mock({}));
    const model = open(opened.proxy);
    const first = await model.doGenerate({ prompt: [USER], tools: TOOLS });
    const call = first.content.find((part) => part.type === 'tool-call');
    expect(JSON.parse(call?.input ?? '')).toEqual(SCRIPT[0]?.tools?.[0]?.arguments);
    expect(first.finishReason.unified).toBe('tool-calls');
    expect([first.usage.inputTokens.total, first.usage.outputTokens.total]).toEqual([30, 12]);
    const said = first.content.filter((part) => part.type === 'text' || part.type === 'tool-call');
    const result = {
      type: 'tool-result' as const,
      toolCallId: call?.toolCallId ?? '',
      toolName: 'bash',
      output: { type: 'text' as const, value: 'file text' },
    };
    const second = await model.doGenerate({
      prompt: [
        USER,
        {
          role: 'assistant',
          content: said.map((part) =>
            part.type === 'text' ? part : { ...part, input: JSON.parse(part.input) as unknown },
          ),
        },
        { role: 'tool', content: [result] },
      ],
      tools: TOOLS,
    });
    expect(second.content).toMatchObject([{ type: 'text', text: 'Done.' }]);
    expect(second.finishReason.unified).toBe('stop');
    const { calls, transcript } = await subject.read(opened.cell);
    expect(calls.map((one) => [one.step, one.state, one.inputTokens, one.outputTokens])).toEqual([
      [1, 'completed', 30, 12],
      [2, 'completed', 50, 3],
    ]);
    expect(transcript.map(({ role, text }) => [role, text])).toEqual([
      ['user', 'Mend it.'],
      ['assistant', SCRIPT[0]?.say],
      ['tool', 'file text'],
      ['assistant', 'Done.'],
    ]);
    expect(transcript[2]).toMatchObject({ toolName: 'bash', toolCallId: call?.toolCallId });
  });

  test('a scripted model streams text and tool calls in pieces', async () => {
    await using opened = await subject.open(mock({}));
    const { stream } = await open(opened.proxy).doStream({ prompt: [USER], tools: TOOLS });
    const { text, calls, finish, deltas } = await collect(stream);
    expect(text).toBe(SCRIPT[0]?.say);
    expect(deltas).toBeGreaterThan(1);
    expect(calls.map((call) => JSON.parse(call.input) as unknown)).toEqual([
      SCRIPT[0]?.tools?.[0]?.arguments,
    ]);
    expect(finish).toMatchObject({
      finishReason: { unified: 'tool-calls' },
      usage: { inputTokens: { total: 30 }, outputTokens: { total: 12 } },
    });
  });

  test('a fault of the model is an error that the client understands', async () => {
    const faults = [{ times: 1, step: 1, fault: { status: 429, text: 'slow down', retryAfterMs: 2_000 } }];
    await using opened = await subject.open(mock({ faults }));
    const failure = await open(opened.proxy)
      .doGenerate({ prompt: [USER] })
      .then(
        () => null,
        (error: unknown) => error,
      );
    expect(failure).toMatchObject({
      statusCode: 429,
      isRetryable: true,
      responseHeaders: { 'retry-after': '2' },
      message: expect.stringContaining('slow down'),
    });
    expect((await subject.read(opened.cell)).calls).toMatchObject([{ failureClass: 'throttled' }]);
  });

  test('the end of a budget is an error that the client does not try again', async () => {
    const price = { input: 1, output: 1 };
    const { model } = mock({ maxOutputTokens: 1_000 });
    const wanted = { provider: { kind: 'mock' }, model: { ...model, price }, budgets: { maxRunUsd: 1e-6 } };
    await using opened = await subject.open(wanted);
    const failure = await open(opened.proxy)
      .doGenerate({ prompt: [USER] })
      .then(
        () => null,
        (error: unknown) => error,
      );
    expect(failure).toMatchObject({ statusCode: 403, isRetryable: false });
    expect(String((failure as Error).message)).toContain('budget');
  });
});

test('an agent of one API works with a provider of another', async () => {
  await using endpoint = await startHttpServer((response) =>
    sendJson(response, toCompletion({ content: 'Translated.', reasoning_content: 'Hm.' })),
  );
  await using opened = await subject.open({
    provider: { kind: 'openai-compatible', baseUrl: endpoint.baseUrl },
    model: { params: { temperature: 0.3 } },
  });
  const answer = await post(opened.proxy, '/v1/messages', {
    model: 'any',
    max_tokens: 50,
    system: [{ type: 'text', text: 'Be brief.' }],
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Go.' }] }],
  });
  expect(await answer.json()).toMatchObject({
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'Hm.' },
      { type: 'text', text: 'Translated.' },
    ],
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 7 },
  });
  expect(endpoint.requests[0]).toMatchObject({
    path: '/v1/chat/completions',
    body: {
      model: 'tiny-1',
      temperature: 0.3,
      max_tokens: 50,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Go.' },
      ],
    },
  });
});

test('tokens of a provider that cannot count them beforehand are estimated', async () => {
  await using opened = await subject.open(mock({}));
  const counted = await post(opened.proxy, '/v1/messages/count_tokens', WIRES[2]!.request());
  expect(await counted.json()).toEqual({ input_tokens: expect.any(Number) });
});
