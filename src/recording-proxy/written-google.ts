import type { FinishReason, ToolCall } from '../domain/transcript.ts';
import type { Usage } from '../domain/usage.ts';
import type { Fields } from '../providers/fields.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import { toPieces, type AnswerFacts } from './wire-form.ts';

/** An answer as the Gemini API gives it. */
export const writeGoogleAnswer = (answer: ModelAnswer, facts: AnswerFacts): Fields =>
  writeChunk(answer, facts, listParts(answer, (text) => [text]).flat());

/** The same in chunks, the last of which says why it ended and what it took. */
export function writeGoogleEvents(answer: ModelAnswer, facts: AnswerFacts): readonly string[] {
  const { responseId, modelVersion } = writeHead(facts);
  const chunks = listParts(answer, toPieces).map((parts) => ({
    candidates: [{ index: 0, content: { role: 'model', parts } }],
    responseId,
    modelVersion,
  }));
  const all: Fields[] = [...chunks, writeChunk(answer, facts, [])];
  return all.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`);
}

const writeChunk = (answer: ModelAnswer, facts: AnswerFacts, parts: readonly Fields[]): Fields => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: FINISHES[answer.finishReason] }],
  usageMetadata: writeUsage(answer.usage),
  ...writeHead(facts),
});

const writeHead = ({ id, model }: AnswerFacts) => ({ responseId: id, modelVersion: model });

const FINISHES: { readonly [reason in FinishReason]: string } = {
  stop: 'STOP',
  length: 'MAX_TOKENS',
  tool_calls: 'STOP',
  content_filter: 'SAFETY',
  error: 'OTHER',
  other: 'OTHER',
};

/** Parts by chunk. */
function listParts({ message }: ModelAnswer, cut: (text: string) => readonly string[]): Fields[][] {
  const { text, reasoning, toolCalls } = message;
  return [
    ...(reasoning === null ? [] : cut(reasoning).map((piece) => [{ text: piece, thought: true }])),
    ...(text === '' ? [] : cut(text).map((piece) => [{ text: piece }])),
    ...toolCalls.map((call) => [toCallPart(call)]),
  ];
}

const toCallPart = ({ id, name, arguments: given }: ToolCall): Fields => ({
  functionCall: { id, name, args: given.kind === 'parsed' ? given.value : {} },
});

/** What is not known is left out; thoughts are counted beside the candidates. */
function writeUsage({ inputTokens, outputTokens, reasoningTokens, cacheReadTokens }: Usage): Fields {
  const said = outputTokens === null ? null : outputTokens - (reasoningTokens ?? 0);
  const counts = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: said,
    thoughtsTokenCount: reasoningTokens,
    cachedContentTokenCount: cacheReadTokens,
    totalTokenCount: inputTokens === null || outputTokens === null ? null : inputTokens + outputTokens,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== null));
}
