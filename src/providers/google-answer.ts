import { UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Usage } from '../domain/usage.ts';
import { checkLength, hasError, parseBody, toNoAnswerFault } from './answer-body.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { firstCount, isFields, listFields, textOf, toFields } from './fields.ts';
import type { Fields } from './fields.ts';
import type { WireAnswer } from './wire.ts';

/**
 * Checks an answer of the Gemini API and brings it into the shape that the AI SDK reads. A prompt that was
 * blocked is an answer: the model's filter spoke. Throws a `CallFault` for everything else without a
 * candidate.
 */
export function readGoogleAnswer(answer: ExchangeAnswer): WireAnswer {
  const body = parseBody(answer);
  const usage = readGoogleUsage(body['usageMetadata']);
  const [candidate] = listFields(body['candidates']);
  const blockReason = textOf(toFields(body['promptFeedback'])['blockReason']);
  if (hasError(body) || (candidate === undefined && blockReason === '')) {
    throw toNoAnswerFault(body, { headers: answer.headers, usage, missing: 'candidates' });
  }
  const ignored = new Set<string>();
  const content = toFields(candidate?.['content']);
  const parts = listFields(content['parts']).flatMap((part) => toPart(part, ignored));
  checkLength(parts.map(toPartText), usage);
  const responseId = textOf(body['responseId']) || null;
  return {
    body: {
      responseId,
      ...(candidate === undefined
        ? { promptFeedback: { blockReason } }
        : // A continuation token would make the SDK send further requests by itself.
          { candidates: [{ content: { parts }, finishReason: textOf(candidate['finishReason']) || null }] }),
    },
    usage,
    reportedCostUsd: null,
    answerId: responseId,
    notes: [
      ...[...ignored].map((type) => `ignored a part of type "${type}"`),
      ...(blockReason === '' ? [] : [`the prompt was blocked: ${blockReason}`]),
      ...listFinishNotes(toFields(candidate)),
    ],
  };
}

function listFinishNotes(candidate: Fields): string[] {
  const [reason, message] = [textOf(candidate['finishReason']), textOf(candidate['finishMessage'])];
  if (reason === '' || reason === 'STOP' || reason === 'MAX_TOKENS') return [];
  return [`finish reason ${reason}${message === '' ? '' : `: ${message}`}`];
}

function toPart(part: Fields, ignored: Set<string>): Fields[] {
  const signature = textOf(part['thoughtSignature']);
  const marks = signature === '' ? {} : { thoughtSignature: signature };
  if (typeof part['text'] === 'string') {
    return [{ text: part['text'], ...(part['thought'] === true ? { thought: true } : {}), ...marks }];
  }
  if (isFields(part['functionCall'])) {
    const call = part['functionCall'];
    // Without an id the SDK would draw one at random; the empty one gets its place as id.
    const functionCall = { id: textOf(call['id']), name: textOf(call['name']), args: call['args'] ?? {} };
    return [{ functionCall, ...marks }];
  }
  ignored.add(Object.keys(part).find((name) => name !== 'thoughtSignature') ?? 'unknown');
  return [];
}

const toPartText = (part: Fields): string =>
  isFields(part['functionCall']) ? JSON.stringify(part['functionCall']['args']) : textOf(part['text']);

/**
 * Usage of the Gemini API. It counts thoughts beside the candidates and leaves zeros out, so that the total
 * says what a missing count is.
 */
export function readGoogleUsage(raw: unknown): Usage {
  if (!isFields(raw)) return UNKNOWN_USAGE;
  const prompt = firstCount(raw['promptTokenCount']);
  const total = firstCount(raw['totalTokenCount']);
  const inputTokens = prompt === null ? null : prompt + (firstCount(raw['toolUsePromptTokenCount']) ?? 0);
  const said = firstCount(raw['candidatesTokenCount']);
  const reasoningTokens = firstCount(raw['thoughtsTokenCount']);
  const rest = total === null || inputTokens === null ? null : Math.max(0, total - inputTokens);
  return {
    inputTokens,
    outputTokens: said === null ? rest : said + (reasoningTokens ?? 0),
    reasoningTokens,
    cacheReadTokens: firstCount(raw['cachedContentTokenCount']),
    cacheWriteTokens: null,
  };
}
