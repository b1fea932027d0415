import type { SeenRequest } from '../http-server.ts';
import { OPENAI_FAILURES } from './openai-failures.ts';
import { halves, toCounts } from './wire-form.ts';
import type { Said, WireEvent, WireForm } from './wire-form.ts';

const ENCRYPTED = 'gAAAA-opaque-1';

function toItems(said: Said): readonly { readonly [name: string]: unknown }[] {
  const thought =
    said.thought === undefined
      ? []
      : [
          {
            id: 'rs_1',
            type: 'reasoning',
            encrypted_content: ENCRYPTED,
            summary: [{ type: 'summary_text', text: said.thought }],
          },
        ];
  const part =
    said.finish === 'filter'
      ? { type: 'refusal', refusal: said.text }
      : { type: 'output_text', text: said.text, annotations: [], logprobs: [] };
  const message =
    said.text === undefined
      ? []
      : [{ id: 'msg_1', type: 'message', status: 'completed', role: 'assistant', content: [part] }];
  const calls = (said.tools ?? []).map((tool, index) => ({
    id: `fc_${index + 1}`,
    type: 'function_call',
    status: 'completed',
    call_id: `call_${index + 1}`,
    ...tool,
  }));
  return [...thought, ...message, ...calls];
}

function toResponse(said: Said): { readonly [name: string]: unknown } {
  const counts = toCounts(said);
  const isCut = said.finish === 'length';
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_760_000_000,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    model: 'gpt-5-2025-08-07',
    output: toItems(said),
    usage:
      counts === null
        ? null
        : {
            input_tokens: counts.input,
            input_tokens_details: { cached_tokens: counts.cacheRead },
            output_tokens: counts.output,
            output_tokens_details: { reasoning_tokens: counts.reasoning },
            total_tokens: counts.input + counts.output,
          },
  };
}

function toEvents(said: Said): readonly WireEvent[] {
  let sequence = 0;
  const event = (type: string, rest: object): WireEvent => ({
    event: type,
    data: { type, sequence_number: sequence++, ...rest },
  });
  const response = toResponse(said);
  const open = { ...response, status: 'in_progress', output: [], usage: null };
  const items = toItems(said).flatMap((item, index) => [
    event('response.output_item.added', { output_index: index, item: { ...item, content: [] } }),
    ...(item['type'] === 'message'
      ? halves(said.text ?? '').map((delta) =>
          event('response.output_text.delta', { item_id: item['id'], output_index: index, delta }),
        )
      : []),
    event('response.output_item.done', { output_index: index, item }),
  ]);
  return [
    event('response.created', { response: open }),
    event('response.in_progress', { response: open }),
    ...items,
    event(said.finish === 'length' ? 'response.incomplete' : 'response.completed', { response }),
  ];
}

export const OPENAI_RESPONSES: WireForm = {
  name: 'openai responses',
  kind: 'openai',
  model: 'gpt-5',
  params: {},
  toAnswer: toResponse,
  toEvents,
  overload: {
    event: {
      event: 'response.failed',
      data: {
        type: 'response.failed',
        sequence_number: 3,
        response: {
          id: 'resp_1',
          status: 'failed',
          error: { code: 'server_error', message: 'The model had an error' },
          output: [],
          usage: null,
        },
      },
    },
    message: /The model had an error/,
  },
  counts: { cacheRead: true, reasoning: true },
  thinks: true,
  readTurn: (seen: SeenRequest) => ({
    store: seen.body['store'],
    include: seen.body['include'],
    input: (seen.body['input'] as unknown[]).slice(1),
  }),
  turn: {
    store: false,
    include: ['reasoning.encrypted_content'],
    input: [
      {
        type: 'reasoning',
        id: 'rs_1',
        encrypted_content: ENCRYPTED,
        summary: [{ type: 'summary_text', text: 'Look first.' }],
      },
      { role: 'assistant', id: 'msg_1', content: [{ type: 'output_text', text: 'I look.' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"where":"here"}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'a door' },
    ],
  },
  readKey: (seen) => seen.headers.authorization,
  failures: OPENAI_FAILURES,
};
