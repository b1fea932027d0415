import type { FinishReason, ToolCall } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';
import type { Fields } from '../providers/fields.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { toPieces, type AnswerFacts } from './wire-form.ts';
import { writeArguments } from './written-chat.ts';

/** An answer as the messages API gives it. */
export const writeAnthropicAnswer = (answer: ModelAnswer, facts: AnswerFacts): Fields => ({
  ...writeHead(facts),
  content: listBlocks(answer).map(({ whole }) => whole),
  stop_reason: STOPS[answer.finishReason],
  stop_sequence: null,
  usage: writeUsage(answer.usage),
});

export function writeAnthropicEvents(answer: ModelAnswer, facts: AnswerFacts): readonly string[] {
  const usage = writeUsage(answer.usage);
  const message = { ...writeHead(facts), content: [], stop_reason: null, stop_sequence: null };
  const events: Fields[] = [
    { type: 'message_start', message: { ...message, usage: { ...usage, output_tokens: 0 } } },
    ...listBlocks(answer).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block.start },
      ...block.deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: STOPS[answer.finishReason], stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    },
    { type: 'message_stop' },
  ];
  return events.map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`);
}

const writeHead = ({ id, model }: AnswerFacts): Fields => ({
  id: `msg_${id}`,
  type: 'message',
  role: 'assistant',
  model,
});

const STOPS: { readonly [reason in FinishReason]: string } = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  error: 'end_turn',
  other: 'end_turn',
};

type Block = { readonly whole: Fields; readonly start: Fields; readonly deltas: readonly Fields[] };

function listBlocks({ message }: ModelAnswer): Block[] {
  const { text, reasoning, toolCalls } = message;
  return [
    ...(reasoning === null ? [] : [toThinking(reasoning)]),
    ...(text === '' ? [] : [toText(text)]),
    ...toolCalls.map(toToolUse),
  ];
}

const toThinking = (thinking: string): Block => ({
  whole: { type: 'thinking', thinking, signature: '' },
  start: { type: 'thinking', thinking: '', signature: '' },
  deltas: toPieces(thinking).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
});

const toText = (text: string): Block => ({
  whole: { type: 'text', text },
  start: { type: 'text', text: '' },
  deltas: toPieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
});

function toToolUse(call: ToolCall): Block {
  const start = { type: 'tool_use', id: call.id, name: call.name, input: {} };
  const input = call.arguments.kind === 'parsed' ? call.arguments.value : {};
  const deltas = toPieces(writeArguments(call)).map((piece) => ({
    type: 'input_json_delta',
    partial_json: piece,
  }));
  return { whole: { ...start, input }, start, deltas };
}

/** Clients of this API demand counts: what is not known is shown to them as 0, and recorded as unknown. */
const writeUsage = (usage: Usage) => {
  const read = usage.cacheReadTokens ?? 0;
  const written = usage.cacheWriteTokens ?? 0;
  return {
    input_tokens: Math.max(0, (usage.inputTokens ?? 0) - read - written),
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
    output_tokens: usage.outputTokens ?? 0,
  };
};
