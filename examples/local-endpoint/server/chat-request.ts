import { toPrompt, type ChatMessage } from './prompt.ts';

/** A chat request that this server can serve, checked. */
export type ChatRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly maxTokens: number | null;
  readonly temperature: number;
  readonly topP: number | null;
  readonly seed: number | null;
  readonly stop: readonly string[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
};

/** A request that cannot be served, in the form in which such servers say it. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(message: string, facts: { status?: number; code?: string; param?: string } = {}) {
    super(message);
    this.status = facts.status ?? 400;
    this.code = facts.code ?? 'invalid_request_error';
    this.param = facts.param ?? null;
  }
}

type Fields = { readonly [name: string]: unknown };

/** Fields that would change the answer and that the model cannot follow: refused, not ignored. */
const REFUSED: { readonly [name: string]: (value: unknown) => boolean } = {
  tools: (value) => !Array.isArray(value) || value.length > 0,
  response_format: (value) => !isRecord(value) || value['type'] !== 'text',
  n: (value) => value !== 1,
  logprobs: (value) => value !== false,
  presence_penalty: (value) => value !== 0,
  frequency_penalty: (value) => value !== 0,
  logit_bias: (value) => !isRecord(value) || Object.keys(value).length > 0,
};

/** Reads the body of a chat request. Throws a RequestError that names the field. */
export function readChatRequest(body: string): ChatRequest {
  const fields = parse(body);
  for (const [name, isRefused] of Object.entries(REFUSED)) {
    const value = fields[name];
    if (value === undefined || value === null || !isRefused(value)) continue;
    throw new RequestError(`"${name}" is not supported by this model; leave it out`, { param: name });
  }
  const maxTokens = readNumber(fields, 'max_completion_tokens') ?? readNumber(fields, 'max_tokens');
  if (maxTokens !== null && (!Number.isInteger(maxTokens) || maxTokens < 1)) {
    throw new RequestError('"max_tokens" must be a whole number above 0', { param: 'max_tokens' });
  }
  const options = fields['stream_options'];
  return {
    model: readText(fields, 'model'),
    prompt: toPrompt(readMessages(fields)),
    maxTokens,
    temperature: readNumber(fields, 'temperature') ?? 1,
    topP: readNumber(fields, 'top_p'),
    seed: readNumber(fields, 'seed'),
    stop: readStop(fields['stop']),
    stream: fields['stream'] === true,
    includeUsage: isRecord(options) && options['include_usage'] === true,
  };
}

function parse(body: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new RequestError(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isRecord(value)) throw new RequestError('the body must be a JSON object');
  return value;
}

function readMessages(fields: Fields): readonly ChatMessage[] {
  const { messages } = fields;
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new RequestError('"messages" must be a list with at least one message', { param: 'messages' });
  }
  return messages.map((message: unknown, index) => readMessage(message, `messages[${index}]`));
}

function readMessage(message: unknown, param: string): ChatMessage {
  if (!isRecord(message)) throw new RequestError(`"${param}" must be an object`, { param });
  const { role } = message;
  if (role !== 'system' && role !== 'user' && role !== 'assistant') {
    const message = `"${param}.role" must be system, user or assistant, not ${JSON.stringify(role)}`;
    throw new RequestError(message, { param });
  }
  return { role, text: readContent(message['content'], `${param}.content`) };
}

/** Text, or a list of text parts. */
function readContent(content: unknown, param: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) throw new RequestError(`"${param}" must be text`, { param });
  return content
    .map((part: unknown) => {
      if (isRecord(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      throw new RequestError(`"${param}" may hold text parts only: this model reads nothing else`, { param });
    })
    .join('\n');
}

function readStop(stop: unknown): readonly string[] {
  if (stop === undefined || stop === null) return [];
  const list: readonly unknown[] = Array.isArray(stop) ? stop : [stop];
  return list.map((text) => {
    if (typeof text === 'string' && text !== '') return text;
    throw new RequestError('"stop" must be text or a list of texts', { param: 'stop' });
  });
}

function readNumber(fields: Fields, name: string): number | null {
  const value = fields[name];
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && value >= 0) return value;
  throw new RequestError(`"${name}" must be a number of at least 0`, { param: name });
}

function readText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value === 'string') return value;
  throw new RequestError(`"${name}" must be text`, { param: name });
}

const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
