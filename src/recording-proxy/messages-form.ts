import type { FinishReason } from '../domain/transcript.ts';
import { readAnthropicAnswer } from '../providers/anthropic-answer.ts';
import { anthropicWire } from '../providers/anthropic.ts';
import { AnthropicFolder } from '../providers/anthropic-stream.ts';
import { firstCount, textOf, type Fields } from '../providers/fields.ts';
import { readAnthropicAssistant, readAnthropicMessages, readAnthropicTools } from './anthropic-messages.ts';
import { findUnbounded } from './find-reference.ts';
import type { WireError, WireForm } from './wire-form.ts';
import { writeAnthropicAnswer, writeAnthropicEvents } from './written-messages.ts';

/** Anthropic's messages API. */
export const messagesForm: WireForm = {
  name: 'messages',
  path: '/messages',
  kinds: ['anthropic'],
  toHeaders: anthropicWire.toHeaders,
  readAsked: (body) => ({
    model: textOf(body['model']),
    isStreamed: body['stream'] === true,
    maxOutputTokens: firstCount(body['max_tokens']),
    answers: 1,
    messages: readAnthropicMessages(body),
    tools: readAnthropicTools(body['tools']),
  }),
  findRefusal: findUnbounded,
  complete: (body, { model, maxOutputTokens }) => ({
    ...body,
    model,
    ...(firstCount(body['max_tokens']) !== null || maxOutputTokens === null
      ? {}
      : { max_tokens: maxOutputTokens }),
  }),
  hidesCounts: () => false,
  createFolder: () => new AnthropicFolder(),
  readAnswer: readAnthropicAnswer,
  readSaid: (body) => ({
    message: readAnthropicAssistant(body['content']),
    finishReason: FINISH[textOf(body['stop_reason'])] ?? 'other',
  }),
  writeAnswer: writeAnthropicAnswer,
  writeEvents: writeAnthropicEvents,
  writeError,
};

const FINISH: { readonly [reason: string]: FinishReason } = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  pause_turn: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
};

const TYPES: { readonly [status: number]: string } = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function writeError({ status, code, message }: WireError): Fields {
  const type = TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return { type: 'error', error: { type, code, message } };
}
