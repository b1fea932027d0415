import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readChatRequest, RequestError, type ChatRequest } from './chat-request.ts';
import { TURN_ENDS } from './prompt.ts';
import type { Completed, TextModel } from './text-model.ts';
import { Turns } from './turns.ts';

const MAX_BODY_BYTES = 4 * 1024 * 1024;
const MAX_WAITING = 64;
const DEFAULT_MAX_TOKENS = 256;

/**
 * An HTTP server that speaks the two requests of OpenAI's API which evaluations need: `GET /v1/models` and
 * `POST /v1/chat/completions`, whole or as a stream. Requests are served one at a time, in order; 64 may wait,
 * further ones get 429. A client that hangs up ends its request.
 */
export function createChatServer(model: TextModel): Server {
  const turns = new Turns({ maxWaiting: MAX_WAITING });
  return createServer((request, response) => {
    serve({ request, response, model, turns }).catch((error: unknown) => sendError(response, error));
  });
}

type Exchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly model: TextModel;
  readonly turns: Turns;
};

async function serve(exchange: Exchange): Promise<void> {
  const { request, response, model, turns } = exchange;
  const path = new URL(request.url ?? '/', 'http://localhost').pathname;
  if (request.method === 'GET' && path === '/v1/models') {
    const models = [{ id: model.name, object: 'model', created: 0, owned_by: 'local' }];
    return sendJson(response, { status: 200, body: { object: 'list', data: models } });
  }
  if (request.method === 'GET' && path === '/health') {
    return sendJson(response, { status: 200, body: { status: 'ok', waiting: turns.open } });
  }
  if (request.method === 'POST' && path === '/v1/chat/completions') return await chat(exchange);
  throw new RequestError(`there is no ${request.method} ${path} here`, { status: 404, code: 'not_found' });
}

async function chat({ request, response, model, turns }: Exchange): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort(new Error('the client hung up')));
  const asked = readChatRequest(await readBody(request));
  if (asked.model !== model.name) {
    const message = `there is no model "${asked.model}" here; this server has "${model.name}"`;
    throw new RequestError(message, { status: 404, code: 'model_not_found', param: 'model' });
  }
  const maxTokens = fitTokens(asked, model);
  const answer = startAnswer(response, asked);
  await turns.take(gone.signal, async () => {
    const completed = await model.complete({
      ...asked,
      maxTokens,
      stop: [...asked.stop, ...TURN_ENDS],
      signal: gone.signal,
      onText: answer.add,
    });
    answer.end(completed);
  });
}

/** The answer's cap; throws when prompt and answer do not fit, as such servers do. */
function fitTokens(asked: ChatRequest, model: TextModel): number {
  const promptTokens = model.countTokens(asked.prompt);
  const room = model.contextTokens - promptTokens;
  const wanted = asked.maxTokens ?? Math.min(DEFAULT_MAX_TOKENS, room);
  if (wanted >= 1 && wanted <= room) return wanted;
  const message =
    `This model's maximum context length is ${model.contextTokens} tokens. However, the messages have ` +
    `${promptTokens} tokens and ${Math.max(1, wanted)} are asked for the answer. Shorten one of them.`;
  throw new RequestError(message, { code: 'context_length_exceeded', param: 'messages' });
}

type Answer = { readonly add: (text: string) => void; readonly end: (completed: Completed) => void };

function startAnswer(response: ServerResponse, asked: ChatRequest): Answer {
  const head = { id: `chatcmpl-${randomUUID()}`, created: Math.floor(Date.now() / 1000), model: asked.model };
  return asked.stream ? startStream(response, { ...head, asked }) : startWhole(response, head);
}

type Head = { readonly id: string; readonly created: number; readonly model: string };

function startWhole(response: ServerResponse, head: Head): Answer {
  let content = '';
  return {
    add: (text) => (content += text),
    end: (completed) => {
      const message = { role: 'assistant', content: content.trim() };
      const choices = [{ index: 0, message, finish_reason: completed.finishReason }];
      const body = { ...head, object: 'chat.completion', choices, usage: toUsage(completed) };
      sendJson(response, { status: 200, body });
    },
  };
}

/** Nothing is sent before the first text, so that a fault before it has a status of its own. */
function startStream(response: ServerResponse, { asked, ...head }: Head & { asked: ChatRequest }): Answer {
  const send = (fields: object): void => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { ...head, object: 'chat.completion.chunk', ...fields };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  const sendChoice = (delta: object, finishReason: string | null): void =>
    send({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
  let begun = false;
  return {
    add: (text) => {
      // The prompt ends without the space that a model begins its answer with.
      const piece = begun ? text : text.trimStart();
      if (piece === '') return;
      sendChoice(begun ? { content: piece } : { role: 'assistant', content: piece }, null);
      begun = true;
    },
    end: (completed) => {
      sendChoice({}, completed.finishReason);
      if (asked.includeUsage) send({ choices: [], usage: toUsage(completed) });
      response.end('data: [DONE]\n\n');
    },
  };
}

const toUsage = ({ inputTokens, outputTokens }: Completed) => ({
  prompt_tokens: inputTokens,
  completion_tokens: outputTokens,
  total_tokens: inputTokens + outputTokens,
});

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > MAX_BODY_BYTES) throw new RequestError('the body is larger than 4 MiB', { status: 413 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function sendJson(response: ServerResponse, { status, body }: { status: number; body: object }): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...(status === 429 ? { 'retry-after': '1' } : {}),
  });
  response.end(text);
}

/** A fault as these servers say it; within a stream as its last event, without the end mark. */
function sendError(response: ServerResponse, error: unknown): void {
  if (response.destroyed) return;
  const known = error instanceof RequestError ? error : null;
  const message = error instanceof Error ? error.message : String(error);
  const type = known === null ? 'server_error' : 'invalid_request_error';
  const body = { error: { message, type, param: known?.param ?? null, code: known?.code ?? 'server_error' } };
  if (response.headersSent) response.end(`data: ${JSON.stringify(body)}\n\n`);
  else sendJson(response, { status: known?.status ?? 500, body });
}
