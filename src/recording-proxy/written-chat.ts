import type { FinishReason, ToolCall } from '../domain/transcript.ts';
import { totalTokens, type Usage } from '../domain/usage.ts';
import type { Fields } from '../providers/fields.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { toPieces, type AnswerFacts } from './wire-form.ts';

/** An answer as a chat completion. */
export function writeChatAnswer(answer: ModelAnswer, { id, model, createdS }: AnswerFacts): Fields {
  const { text, reasoning, toolCalls } = answer.message;
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    ...(reasoning === null ? {} : { reasoning_content: reasoning }),
    ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map(writeCall) }),
  };
  const finish_reason = toFinish(answer.finishReason);
  return {
    id,
    object: 'chat.completion',
    created: createdS,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason }],
    ...withUsage(answer.usage),
  };
}

export function writeChatEvents(answer: ModelAnswer, facts: AnswerFacts): readonly string[] {
  const { id, model, createdS, countsTokens } = facts;
  const head = { id, object: 'chat.completion.chunk', created: createdS, model };
  const toChunk = (delta: Fields, finish_reason: string | null): Fields => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
  });
  const { text, reasoning, toolCalls } = answer.message;
  const chunks = [
    toChunk({ role: 'assistant', content: '' }, null),
    ...toPieces(reasoning ?? '').map((piece) => toChunk({ reasoning_content: piece }, null)),
    ...toPieces(text).map((piece) => toChunk({ content: piece }, null)),
    ...toolCalls.flatMap((call, index) => writeCallDeltas(call, index).map((delta) => toChunk(delta, null))),
    toChunk({}, toFinish(answer.finishReason)),
    ...(countsTokens ? [{ ...head, choices: [], ...withUsage(answer.usage) }] : []),
  ];
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

/** The name comes first, its arguments in pieces after it. */
function writeCallDeltas(call: ToolCall, index: number): Fields[] {
  const { name, arguments: given } = writeCall(call).function;
  const first = { index, id: call.id, type: 'function', function: { name, arguments: '' } };
  const rest = toPieces(given).map((piece) => ({ index, function: { arguments: piece } }));
  return [first, ...rest].map((part) => ({ tool_calls: [part] }));
}

const writeCall = (call: ToolCall) => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: writeArguments(call) },
});

export const writeArguments = ({ arguments: given }: ToolCall): string =>
  given.kind === 'parsed' ? JSON.stringify(given.value) : given.text;

const toFinish = (reason: FinishReason): string =>
  reason === 'error' || reason === 'other' ? 'stop' : reason;

/** Nothing is said of what nobody counted. */
function withUsage(usage: Usage): Fields {
  const total = totalTokens(usage);
  if (total === null) return {};
  return {
    usage: {
      prompt_tokens: usage.inputTokens ?? 0,
      completion_tokens: usage.outputTokens ?? 0,
      total_tokens: total,
      prompt_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    },
  };
}
