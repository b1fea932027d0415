import type { FinishReason } from '../domain/transcript.ts';
import { firstCount, listFields, textOf, toFields, type Fields } from '../providers/fields.ts';
import { toBearer } from '../providers/openai-compatible.ts';
import { readResponsesAnswer } from '../providers/responses-answer.ts';
import { ResponsesFolder } from '../providers/responses-stream.ts';
import { findUnbounded } from './find-reference.ts';
import { writeOpenAiError } from './openai-error.ts';
import { readItems, readResponsesMessages, readResponsesTools } from './responses-messages.ts';
import type { WireForm } from './wire-form.ts';
import { writeResponsesAnswer, writeResponsesEvents } from './written-responses.ts';

/** OpenAI's responses API. */
export const responsesForm: WireForm = {
  name: 'responses',
  path: '/responses',
  kinds: ['openai', 'openai-compatible'],
  toHeaders: toBearer,
  readAsked: (body) => ({
    model: textOf(body['model']),
    isStreamed: body['stream'] === true,
    maxOutputTokens: firstCount(body['max_output_tokens']),
    answers: 1,
    messages: readResponsesMessages(body),
    tools: readResponsesTools(body['tools']),
  }),
  findRefusal,
  complete: (body, { model, maxOutputTokens }) => ({
    ...body,
    model,
    ...(firstCount(body['max_output_tokens']) !== null || maxOutputTokens === null
      ? {}
      : { max_output_tokens: maxOutputTokens }),
  }),
  hidesCounts: () => false,
  createFolder: () => new ResponsesFolder(),
  readAnswer: readResponsesAnswer,
  readSaid: (body) => {
    const message = readItems(listFields(body['output'])).find(({ role }) => role === 'assistant');
    const said =
      message?.role === 'assistant'
        ? message
        : { role: 'assistant' as const, text: '', reasoning: null, toolCalls: [] };
    const reason = textOf(toFields(body['incomplete_details'])['reason']);
    const finishReason = FINISH[reason] ?? (said.toolCalls.length > 0 ? 'tool_calls' : 'stop');
    return { message: said, finishReason };
  },
  writeAnswer: writeResponsesAnswer,
  writeEvents: writeResponsesEvents,
  writeError: writeOpenAiError,
};

const FINISH: { readonly [reason: string]: FinishReason } = {
  max_output_tokens: 'length',
  content_filter: 'content_filter',
};

/** An answer that is fetched later is never counted; a history that lies with the provider bounds no cost. */
function findRefusal(body: Fields, { isBounded }: { readonly isBounded: boolean }): string | null {
  if (body['background'] === true)
    return 'background answers cannot be recorded: send the request without "background"';
  const stored = ['previous_response_id', 'conversation'].find((name) => (body[name] ?? null) !== null);
  if (!isBounded || stored === undefined) return findUnbounded(body, { isBounded });
  return `"${stored}" hides how much the model reads, and a budget or limit holds: send the whole input with every request`;
}
