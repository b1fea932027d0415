import { totalTokens, type Usage } from '../domain/usage.ts';
import type { Fields } from '../providers/fields.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { toPieces, type AnswerFacts } from './wire-form.ts';
import { writeArguments } from './written-chat.ts';

/** An answer as the responses API gives it. */
export function writeResponsesAnswer(answer: ModelAnswer, facts: AnswerFacts): Fields {
  return writeResponse({ answer, facts, output: writeItems(answer, facts) });
}

export function writeResponsesEvents(answer: ModelAnswer, facts: AnswerFacts): readonly string[] {
  const items = writeItems(answer, facts);
  const open = { ...writeResponse({ answer, facts, output: [] }), status: 'in_progress', usage: null };
  const response = writeResponse({ answer, facts, output: items });
  const last = response['status'] === 'completed' ? 'response.completed' : 'response.incomplete';
  const events: Fields[] = [
    { type: 'response.created', response: open },
    { type: 'response.in_progress', response: open },
    ...items.flatMap(writeItemEvents),
    { type: last, response },
  ];
  return events.map(
    (event, sequence_number) =>
      `event: ${String(event['type'])}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`,
  );
}

type Item = Fields & { readonly id: string; readonly type: string };

function writeItems({ message }: ModelAnswer, { id }: AnswerFacts): Item[] {
  const { text, reasoning, toolCalls } = message;
  const thought: Item[] =
    reasoning === null
      ? []
      : [{ id: `rs_${id}`, type: 'reasoning', summary: [{ type: 'summary_text', text: reasoning }] }];
  const said: Item[] =
    text === '' && toolCalls.length > 0
      ? []
      : [
          {
            id: `msg_${id}`,
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ];
  const calls = toolCalls.map((call, index) => ({
    id: `fc_${id}_${index}`,
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: writeArguments(call),
  }));
  return [...thought, ...said, ...calls];
}

function writeItemEvents(item: Item, output_index: number): Fields[] {
  const place = { item_id: item.id, output_index };
  const [added, between] = writeInside(item, place);
  return [
    { type: 'response.output_item.added', output_index, item: added },
    ...between,
    { type: 'response.output_item.done', output_index, item },
  ];
}

/** The item as it begins, and what happens until it is done. */
function writeInside(item: Item, place: Fields): [Fields, Fields[]] {
  if (item.type === 'function_call') {
    const given = String(item['arguments']);
    const type = 'response.function_call_arguments';
    return [
      { ...item, status: 'in_progress', arguments: '' },
      [
        ...toPieces(given).map((delta) => ({ type: `${type}.delta`, ...place, delta })),
        { type: `${type}.done`, ...place, arguments: given },
      ],
    ];
  }
  const isText = item.type === 'message';
  const part = ((isText ? item['content'] : item['summary']) as Fields[])[0] ?? {};
  const text = String(part['text']);
  const inside = { ...place, [isText ? 'content_index' : 'summary_index']: 0 };
  const type = isText ? 'response.output_text' : 'response.reasoning_summary_text';
  const frame = isText ? 'response.content_part' : 'response.reasoning_summary_part';
  return [
    { ...item, ...(isText ? { status: 'in_progress', content: [] } : { summary: [] }) },
    [
      { type: `${frame}.added`, ...inside, part: { ...part, text: '' } },
      ...toPieces(text).map((delta) => ({ type: `${type}.delta`, ...inside, delta })),
      { type: `${type}.done`, ...inside, text },
      { type: `${frame}.done`, ...inside, part },
    ],
  ];
}

function writeResponse(parts: {
  readonly answer: ModelAnswer;
  readonly facts: AnswerFacts;
  readonly output: readonly Item[];
}): Fields {
  const { answer, facts, output } = parts;
  const { finishReason, usage } = answer;
  const isCut = finishReason === 'length' || finishReason === 'content_filter';
  const reason = finishReason === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${facts.id}`,
    object: 'response',
    created_at: facts.createdS,
    status: isCut ? 'incomplete' : 'completed',
    error: null,
    incomplete_details: isCut ? { reason } : null,
    model: facts.model,
    output,
    usage: writeUsage(usage),
  };
}

function writeUsage(usage: Usage): Fields | null {
  const total = totalTokens(usage);
  if (total === null) return null;
  return {
    input_tokens: usage.inputTokens ?? 0,
    input_tokens_details: { cached_tokens: usage.cacheReadTokens ?? 0 },
    output_tokens: usage.outputTokens ?? 0,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: total,
  };
}
