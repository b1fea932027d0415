import type { FinishReason } from '../domain/transcript.ts';
import { firstCount, listFields, textOf, toFields, type Fields } from '../providers/fields.ts';
import { readGoogleAnswer } from '../providers/google-answer.ts';
import { googleWire } from '../providers/google.ts';
import { GoogleFolder } from '../providers/google-stream.ts';
import { namesFile, readGoogleAssistant, readGoogleMessages, readGoogleTools } from './google-messages.ts';
import type { Asked, Change, WireError, WireForm } from './wire-form.ts';
import { writeGoogleAnswer, writeGoogleEvents } from './written-google.ts';

const CALL = /^\/models\/([^/]+):(generateContent|streamGenerateContent)$/;

/**
 * The Gemini API. It names the model and the wish for a stream in the path: `readPath` puts both into the body, as the
 * other forms have them, and `complete` takes them out again.
 */
export const googleForm: WireForm = {
  name: 'google',
  path: '/models/MODEL:generateContent',
  kinds: ['google'],
  readPath: (path, search) => {
    const [, model, call] = CALL.exec(path) ?? [];
    if (model === undefined) return null;
    const isStreamed = call === 'streamGenerateContent';
    return { model: decodeURIComponent(model), stream: isStreamed ? (search.get('alt') ?? 'array') : false };
  },
  toUpstreamPath: (body, model) =>
    `/models/${encodeURIComponent(model)}:${body['stream'] === false ? 'generateContent' : 'streamGenerateContent?alt=sse'}`,
  toHeaders: googleWire.toHeaders,
  readAsked,
  findRefusal: (body, { isBounded }) => {
    if (body['stream'] !== false && body['stream'] !== 'sse')
      return 'a stream of this form is served as events alone: ask with ?alt=sse';
    if (!isBounded || !namesFile(body)) return null;
    return 'a part names a file instead of containing it, and a budget or limit holds: send its bytes';
  },
  complete,
  hidesCounts: () => false,
  createFolder: () => new GoogleFolder(),
  readAnswer: readGoogleAnswer,
  readSaid: (body) => {
    const candidate = listFields(body['candidates'])[0] ?? {};
    const message = readGoogleAssistant(toFields(candidate['content'])['parts']);
    const blocked = textOf(toFields(body['promptFeedback'])['blockReason']) !== '';
    const said = FINISH[textOf(candidate['finishReason'])] ?? (blocked ? 'content_filter' : 'other');
    const finishReason = said === 'stop' && message.toolCalls.length > 0 ? 'tool_calls' : said;
    return { message, finishReason };
  },
  writeAnswer: writeGoogleAnswer,
  writeEvents: writeGoogleEvents,
  writeError,
};

const FINISH: { readonly [reason: string]: FinishReason } = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'content_filter',
  RECITATION: 'content_filter',
  BLOCKLIST: 'content_filter',
  PROHIBITED_CONTENT: 'content_filter',
  SPII: 'content_filter',
  MALFORMED_FUNCTION_CALL: 'error',
};

function readAsked(body: Fields): Asked {
  const config = toFields(body['generationConfig']);
  return {
    model: textOf(body['model']),
    isStreamed: body['stream'] !== false,
    maxOutputTokens: firstCount(config['maxOutputTokens']),
    answers: Math.max(1, firstCount(config['candidateCount']) ?? 1),
    messages: readGoogleMessages(body),
    tools: readGoogleTools(body['tools']),
  };
}

function complete(body: Fields, { maxOutputTokens }: Change): Fields {
  const { model: _model, stream: _stream, ...rest } = body;
  const config = toFields(rest['generationConfig']);
  if (maxOutputTokens === null || firstCount(config['maxOutputTokens']) !== null) return rest;
  return { ...rest, generationConfig: { ...config, maxOutputTokens } };
}

const STATUSES: { readonly [status: number]: string } = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Its `code` is the status; what the error is called stands beside it. */
function writeError({ status, code, message }: WireError): Fields {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code, domain: 'assay' }];
  const name = STATUSES[status] ?? (status < 500 ? 'FAILED_PRECONDITION' : 'INTERNAL');
  return { error: { code: status, message, status: name, details } };
}
