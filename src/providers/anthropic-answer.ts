import { addKnown, UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Usage } from '../domain/usage.ts';
import { checkLength, hasError, parseBody, toNoAnswerFault } from './answer-body.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { firstCount, isFields, listFields, textOf, toFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { WireAnswer } from './wire.ts';

/**
 * Checks an answer of Anthropic's messages API and brings it into the shape that the AI SDK reads. Throws a
 * `CallFault` for everything that is no model's answer, such as an overload in the middle of a stream.
 */
export function readAnthropicAnswer(answer: ExchangeAnswer): WireAnswer {
  const body = parseBody(answer);
  const usage = readAnthropicUsage(body['usage']);
  if (hasError(body) || !Array.isArray(body['content'])) {
    throw toNoAnswerFault(body, { headers: answer.headers, usage, missing: 'content' });
  }
  const ignored = new Set<string>();
  const content = listFields(body['content']).flatMap((block) => toBlock(block, ignored));
  checkLength(content.flatMap(listTexts), usage);
  const id = textOf(body['id']) || null;
  return {
    body: {
      type: 'message',
      id,
      model: textOf(body['model']),
      content,
      stop_reason: textOf(body['stop_reason']) || null,
      stop_sequence: textOf(body['stop_sequence']) || null,
      // The SDK demands counts; Assay reads its own from `usage`.
      usage: { input_tokens: 0, output_tokens: 0 },
    },
    usage,
    reportedCostUsd: null,
    answerId: id,
    notes: [
      ...[...ignored].map((type) => `ignored a content block of type "${type}"`),
      ...(body['stop_reason'] === 'pause_turn' ? ['the model paused its turn: taken as its end'] : []),
    ],
  };
}

function toBlock(block: Fields, ignored: Set<string>): Fields[] {
  switch (block['type']) {
    case 'text':
      return [{ type: 'text', text: textOf(block['text']) }];
    case 'thinking':
      return [
        { type: 'thinking', thinking: textOf(block['thinking']), signature: textOf(block['signature']) },
      ];
    case 'redacted_thinking':
      return [{ type: 'redacted_thinking', data: textOf(block['data']) }];
    case 'tool_use': {
      const [id, name] = [textOf(block['id']), textOf(block['name'])];
      return [{ type: 'tool_use', id, name, input: block['input'] ?? {} }];
    }
    default:
      ignored.add(textOf(block['type']) || 'unknown');
      return [];
  }
}

const listTexts = (block: Fields): string[] => [
  textOf(block['text']),
  textOf(block['thinking']),
  block['input'] === undefined ? '' : JSON.stringify(block['input']),
];

/**
 * Usage of the messages API, which counts what is read from and written to the cache beside the input; in
 * Assay both are part of it.
 */
export function readAnthropicUsage(raw: unknown): Usage {
  if (!isFields(raw)) return UNKNOWN_USAGE;
  const cacheReadTokens = firstCount(raw['cache_read_input_tokens']);
  const cacheWriteTokens = firstCount(raw['cache_creation_input_tokens']);
  const plain = firstCount(raw['input_tokens']);
  const cached = addKnown(cacheReadTokens, cacheWriteTokens);
  return {
    inputTokens: plain === null ? null : plain + (cached ?? 0),
    outputTokens: firstCount(raw['output_tokens']),
    reasoningTokens: firstCount(toFields(raw['output_tokens_details'])['thinking_tokens']),
    cacheReadTokens,
    cacheWriteTokens,
  };
}
