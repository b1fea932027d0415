import type { SeenRequest } from '../http-server.ts';
import { OPENAI_FAILURES } from './openai-failures.ts';
import { halves, toCounts } from './wire-form.ts';
import type { Said, WireEvent, WireForm } from './wire-form.ts';

const FINISH = { stop: 'stop', length: 'length', filter: 'content_filter' } as const;

const toFinish = (said: Said): string =>
  said.finish === undefined && (said.tools?.length ?? 0) > 0 ? 'tool_calls' : FINISH[said.finish ?? 'stop'];

const toUsage = (said: Said): object => {
  const counts = toCounts(said);
  if (counts === null) return {};
  const usage = {
    prompt_tokens: counts.input,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cacheRead, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: counts.reasoning, audio_tokens: 0 },
  };
  return { usage };
};

const toCalls = (said: Said) =>
  (said.tools ?? []).map((tool, index) => ({
    id: `call_${index + 1}`,
    type: 'function',
    function: { name: tool.name, arguments: tool.arguments },
  }));

const HEAD = { id: 'chatcmpl-1', created: 1_760_000_000, model: 'gpt-4.1-2025-04-14' };

function toAnswer(said: Said): unknown {
  const calls = toCalls(said);
  const message = {
    role: 'assistant',
    content: said.text ?? null,
    refusal: null,
    ...(said.thought === undefined ? {} : { reasoning_content: said.thought }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, logprobs: null, finish_reason: toFinish(said) }];
  return { ...HEAD, object: 'chat.completion', choices, ...toUsage(said) };
}

function toEvents(said: Said): readonly WireEvent[] {
  const chunk = (delta: object, finish: string | null = null): WireEvent => ({
    data: {
      ...HEAD,
      object: 'chat.completion.chunk',
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
    },
  });
  const calls = toCalls(said).flatMap((call, index) => {
    const [first, second] = halves(call.function.arguments);
    return [
      chunk({ tool_calls: [{ index, ...call, function: { ...call.function, arguments: '' } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: first } }] }),
      chunk({ tool_calls: [{ index, function: { arguments: second } }] }),
    ];
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...halves(said.thought ?? '').map((part) => chunk({ reasoning_content: part })),
    ...halves(said.text ?? '').map((part) => chunk({ content: part })),
    ...calls,
    chunk({}, toFinish(said)),
    { data: { ...HEAD, object: 'chat.completion.chunk', choices: [], ...toUsage(said) } },
    { data: '[DONE]' },
  ];
}

const readTurn = (seen: SeenRequest): unknown => (seen.body['messages'] as unknown[]).slice(-2);

const TURN = [
  {
    role: 'assistant',
    content: 'I look.',
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"where":"here"}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'a door' },
];

export const OPENAI_CHAT: WireForm = {
  name: 'openai chat',
  kind: 'openai',
  model: 'gpt-4.1',
  params: { api: 'chat' },
  toAnswer,
  toEvents,
  overload: {
    event: { data: { error: { message: 'The server had an error', type: 'server_error', code: null } } },
    message: /The server had an error/,
  },
  counts: { cacheRead: true, reasoning: true },
  thinks: false,
  readTurn,
  turn: TURN,
  readKey: (seen) => seen.headers.authorization,
  failures: OPENAI_FAILURES,
};

export const OPENAI_COMPATIBLE: WireForm = {
  ...OPENAI_CHAT,
  name: 'openai-compatible',
  kind: 'openai-compatible',
  model: 'some-model',
  params: {},
};
