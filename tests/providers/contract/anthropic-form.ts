import type { SeenRequest } from '../http-server.ts';
import { ANTHROPIC_FAILURES } from './anthropic-failures.ts';
import { halves, toCounts } from './wire-form.ts';
import type { Said, WireEvent, WireForm } from './wire-form.ts';

const SIGNATURE = 'EqQBCg-signature-1';
const REASONS = { stop: 'end_turn', length: 'max_tokens', filter: 'refusal' } as const;

const toReason = (said: Said): string =>
  said.finish === undefined && (said.tools?.length ?? 0) > 0 ? 'tool_use' : REASONS[said.finish ?? 'stop'];

const toUsage = (said: Said): { readonly [name: string]: number } => {
  const counts = toCounts(said);
  if (counts === null) return {};
  return {
    // Anthropic counts what came from the cache beside the input.
    input_tokens: counts.input - counts.cacheRead,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: counts.output,
  };
};

const toHead = (said: Said) => ({
  id: 'msg_01',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  stop_sequence: null,
  usage: toUsage(said),
});

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function toAnswer(said: Said): unknown {
  const content = [
    ...(said.thought === undefined
      ? []
      : [{ type: 'thinking', thinking: said.thought, signature: SIGNATURE }]),
    ...(said.text === undefined ? [] : [{ type: 'text', text: said.text }]),
    ...(said.tools ?? []).map((tool, index) => ({
      type: 'tool_use',
      id: `toolu_0${index + 1}`,
      name: tool.name,
      input: parse(tool.arguments),
    })),
  ];
  return { ...toHead(said), content, stop_reason: toReason(said) };
}

function toEvents(said: Said): readonly WireEvent[] {
  const event = (type: string, rest: object): WireEvent => ({ event: type, data: { type, ...rest } });
  const { output_tokens, ...start } = toUsage(said);
  let next = 0;
  const block = (content_block: object, deltas: readonly object[]): WireEvent[] => {
    const index = next;
    next += 1;
    return [
      event('content_block_start', { index, content_block }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ];
  };
  const usage = output_tokens === undefined ? {} : { ...start, output_tokens: 1 };
  return [
    event('message_start', { message: { ...toHead(said), content: [], stop_reason: null, usage } }),
    event('ping', {}),
    ...(said.thought === undefined
      ? []
      : block({ type: 'thinking', thinking: '', signature: '' }, [
          ...halves(said.thought).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: SIGNATURE },
        ])),
    ...(said.text === undefined
      ? []
      : block(
          { type: 'text', text: '' },
          halves(said.text).map((text) => ({ type: 'text_delta', text })),
        )),
    ...(said.tools ?? []).flatMap((tool, index) =>
      block(
        { type: 'tool_use', id: `toolu_0${index + 1}`, name: tool.name, input: {} },
        ['', ...halves(tool.arguments)].map((partial_json) => ({ type: 'input_json_delta', partial_json })),
      ),
    ),
    event('message_delta', {
      delta: { stop_reason: toReason(said), stop_sequence: null },
      ...(output_tokens === undefined ? {} : { usage: { output_tokens } }),
    }),
    event('message_stop', {}),
  ];
}

export const ANTHROPIC: WireForm = {
  name: 'anthropic',
  kind: 'anthropic',
  model: 'claude-sonnet-4-5',
  params: { maxOutputTokens: 2048, thinking: { type: 'enabled', budgetTokens: 1024 } },
  toAnswer,
  toEvents,
  overload: {
    event: {
      event: 'error',
      data: {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Overloaded' },
        request_id: 'req_1',
      },
    },
    message: /overloaded_error: Overloaded/,
  },
  counts: { cacheRead: true, reasoning: false },
  thinks: true,
  readTurn: (seen: SeenRequest) => ({
    max_tokens: seen.body['max_tokens'],
    messages: (seen.body['messages'] as unknown[]).slice(1),
  }),
  turn: {
    max_tokens: 2048,
    messages: [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Look first.', signature: SIGNATURE },
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: 'toolu_01', name: 'look', input: { where: 'here' } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_01', content: 'a door' }] },
    ],
  },
  readKey: (seen) => seen.headers['x-api-key'],
  failures: ANTHROPIC_FAILURES,
};
