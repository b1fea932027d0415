import type { FinishReason } from '../domain/transcript.ts';
import { ChatFolder } from '../providers/chat-stream.ts';
import { firstCount, isFields, listFields, textOf, toFields, type Fields } from '../providers/fields.ts';
import { readChatWire, toBearer } from '../providers/openai-compatible.ts';
import { readChatAssistant, readChatMessages, readChatTools } from './chat-messages.ts';
import { findUnbounded } from './find-reference.ts';
import { writeOpenAiError } from './openai-error.ts';
import type { Asked, Change, WireForm } from './wire-form.ts';
import { writeChatAnswer, writeChatEvents } from './written-chat.ts';

/** Chat completions, as OpenAI and many others offer them. */
export const chatForm: WireForm = {
  name: 'chat',
  path: '/chat/completions',
  kinds: ['openai', 'openai-compatible'],
  toHeaders: toBearer,
  readAsked,
  findRefusal: findUnbounded,
  complete,
  hidesCounts: (body) =>
    body['stream'] === true && toFields(body['stream_options'])['include_usage'] !== true,
  createFolder: () => new ChatFolder(),
  readAnswer: readChatWire,
  readSaid: (body) => {
    const choice = listFields(body['choices'])[0] ?? {};
    const message = readChatAssistant(toFields(choice['message']));
    return { message, finishReason: FINISH[textOf(choice['finish_reason'])] ?? 'other' };
  },
  writeAnswer: writeChatAnswer,
  writeEvents: writeChatEvents,
  writeError: writeOpenAiError,
};

const FINISH: { readonly [reason: string]: FinishReason } = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
};

function readAsked(body: Fields): Asked {
  return {
    model: textOf(body['model']),
    isStreamed: body['stream'] === true,
    maxOutputTokens: firstCount(body['max_completion_tokens'], body['max_tokens']),
    answers: Math.max(1, firstCount(body['n']) ?? 1),
    messages: readChatMessages(body['messages']),
    tools: readChatTools(body['tools']),
  };
}

/** A stream is asked to count its tokens; OpenAI's own newer models know the cap by another name. */
function complete(body: Fields, { model, maxOutputTokens, kind }: Change): Fields {
  const asksCap = firstCount(body['max_completion_tokens'], body['max_tokens']) !== null;
  const name = kind === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  const options = isFields(body['stream_options']) ? body['stream_options'] : {};
  return {
    ...body,
    model,
    ...(asksCap || maxOutputTokens === null ? {} : { [name]: maxOutputTokens }),
    ...(body['stream'] === true ? { stream_options: { ...options, include_usage: true } } : {}),
  };
}
