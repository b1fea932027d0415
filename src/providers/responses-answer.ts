import { NO_FACTS, readErrorBody } from '../domain/failure-facts.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Usage } from '../domain/usage.ts';
import { checkLength, hasError, parseBody, toNoAnswerFault, toSpent } from './answer-body.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { firstCount, isFields, listFields, textOf, toFields } from './fields.ts';
import type { Fields } from './fields.ts';
import { CallFault, createFault } from './provider-error.ts';
import type { WireAnswer } from './wire.ts';

/**
 * Checks an answer of OpenAI's responses API and brings it into the shape that the AI SDK reads. Throws a
 * `CallFault` for everything that is no model's answer.
 */
export function readResponsesAnswer(answer: ExchangeAnswer): WireAnswer {
  const body = parseBody(answer);
  const usage = readResponsesUsage(body['usage']);
  const { headers } = answer;
  if (hasError(body)) throw toErrorFault(body, { headers, usage });
  if (!Array.isArray(body['output'])) throw toNoAnswerFault(body, { headers, usage, missing: 'output' });
  checkStatus(body['status'], usage);
  const ignored = new Set<string>();
  const output = listFields(body['output']).flatMap((item) => toItem(item, ignored));
  checkLength(output.flatMap(listTexts), usage);
  const details = body['incomplete_details'];
  return {
    body: {
      id: textOf(body['id']),
      output,
      incomplete_details: isFields(details) ? toReason(details) : null,
    },
    usage,
    reportedCostUsd: null,
    answerId: textOf(body['id']) || null,
    notes: [...ignored].map((type) => `ignored an output item of type "${type}"`),
  };
}

const toReason = (details: Fields): Fields => ({ reason: textOf(details['reason']) || 'unknown' });

/** `failed` answers carry an error of their own, with status 200. */
function toErrorFault(
  body: Fields,
  facts: { readonly headers: { readonly [name: string]: string }; readonly usage: Usage },
): CallFault {
  const found = readErrorBody(body);
  const label = body['status'] === 'failed' ? 'the answer failed' : 'an error in a body with status 200';
  return new CallFault({ ...NO_FACTS, ...found, headers: facts.headers, label }, toSpent(facts.usage));
}

function checkStatus(status: unknown, usage: Usage): void {
  if (status === undefined || status === 'completed' || status === 'incomplete') return;
  throw createFault({
    class: status === 'failed' ? 'server' : 'bad_answer',
    retryable: true,
    message: `the answer has the status "${textOf(status) || 'unknown'}" and no further word`,
    usage: toSpent(usage),
  });
}

/** Messages, thoughts and calls as the SDK demands them; what it may stumble over is left out. */
function toItem(item: Fields, ignored: Set<string>): Fields[] {
  const id = textOf(item['id']);
  switch (item['type']) {
    case 'message': {
      const content = listFields(item['content']).flatMap((part) => toContent(part, ignored));
      const phase = item['phase'] === 'commentary' || item['phase'] === 'final_answer' ? item['phase'] : null;
      return [{ type: 'message', role: 'assistant', id, phase, content }];
    }
    case 'reasoning': {
      const summary = listFields(item['summary']).map((part) => ({
        type: 'summary_text',
        text: textOf(part['text']),
      }));
      return [
        { type: 'reasoning', id, encrypted_content: textOf(item['encrypted_content']) || null, summary },
      ];
    }
    case 'function_call': {
      const [call_id, name] = [textOf(item['call_id']), textOf(item['name'])];
      return [{ type: 'function_call', id, call_id, name, arguments: textOf(item['arguments']) }];
    }
    default:
      ignored.add(textOf(item['type']) || 'unknown');
      return [];
  }
}

function toContent(part: Fields, ignored: Set<string>): Fields[] {
  switch (part['type']) {
    case 'output_text':
      return [{ type: 'output_text', text: textOf(part['text']), annotations: [] }];
    case 'refusal':
      return [{ type: 'refusal', refusal: textOf(part['refusal']) }];
    default:
      ignored.add(textOf(part['type']) || 'unknown');
      return [];
  }
}

const listTexts = (item: Fields): string[] => [
  textOf(item['arguments']),
  ...listFields(item['content']).map((part) => textOf(part['text']) + textOf(part['refusal'])),
  ...listFields(item['summary']).map((part) => textOf(part['text'])),
];

/** Usage of the responses API: cached tokens are part of the input, reasoning is part of the output. */
export function readResponsesUsage(raw: unknown): Usage {
  if (!isFields(raw)) return UNKNOWN_USAGE;
  const input = toFields(raw['input_tokens_details']);
  const output = toFields(raw['output_tokens_details']);
  return {
    inputTokens: firstCount(raw['input_tokens']),
    outputTokens: firstCount(raw['output_tokens']),
    reasoningTokens: firstCount(output['reasoning_tokens']),
    cacheReadTokens: firstCount(input['cached_tokens']),
    cacheWriteTokens: firstCount(input['cache_write_tokens']),
  };
}
