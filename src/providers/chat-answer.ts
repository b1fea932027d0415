import { NO_FACTS, readAnswerFacts, readErrorBody } from '../domain/failure-facts.ts';
import { isMarkup } from '../domain/failure-message.ts';
import { isFields, readChatUsage } from './chat-usage.ts';
import type { Fields } from './chat-usage.ts';
import { CallFault, createFault } from './provider-error.ts';
import type { ExchangeAnswer } from './exchange.ts';

/** A chat completion in the one shape that the AI SDK reads, with notes of what was left out. */
export type ChatBody = {
  readonly id: string | null;
  readonly choices: readonly [ChatChoice];
  readonly usage: Fields | null;
  readonly notes: readonly string[];
};

export type ChatChoice = {
  readonly finish_reason: string | null;
  readonly message: {
    readonly role: 'assistant';
    readonly content: string | null;
    readonly refusal?: string;
    readonly reasoning_content?: string;
    readonly tool_calls?: readonly ChatToolCall[];
  };
};

export type ChatToolCall = {
  /** Empty when none came. */
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
};

/** Text and thoughts of a `content` field. */
export type ContentParts = {
  readonly text: string;
  readonly reasoning: string;
  readonly ignored: readonly string[];
};

const FINISH_REASONS: { readonly [reason: string]: string } = {
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  eos: 'stop',
  eos_token: 'stop',
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool_calls',
};

/** More text than any model writes at once; scorers and the store take every answer whole. */
export const ANSWER_LIMIT_CHARACTERS = 2 * 1024 * 1024;

/**
 * Checks an answer and brings it into shape. Throws a `CallFault` for everything that is no model's
 * answer: other statuses, pages, broken JSON, error bodies with status 200, no choices, a choice that
 * ended in an error.
 */
export function readChatAnswer(answer: ExchangeAnswer): ChatBody {
  if (answer.status < 200 || answer.status > 299) throw new CallFault(readAnswerFacts(answer));
  const body = parseBody(answer);
  const choices = Array.isArray(body['choices']) ? body['choices'] : [];
  if (hasError(body) || !isFields(choices[0])) throw toNoAnswerFault(body, answer.headers);
  const choice = choices[0];
  if (choice['finish_reason'] === 'error' || hasError(choice)) throw toEndedInErrorFault(choice, body);
  const chat = toChatBody(body, choice);
  const characters = countCharacters(chat.choices[0].message);
  if (characters > ANSWER_LIMIT_CHARACTERS) throw toLengthFault(characters, body);
  return chat;
}

const countCharacters = ({
  content,
  refusal,
  reasoning_content,
  tool_calls,
}: ChatChoice['message']): number =>
  [content, refusal, reasoning_content, ...(tool_calls ?? []).map((call) => call.function.arguments)].reduce(
    (sum, text) => sum + (text?.length ?? 0),
    0,
  );

/** The model's own doing, paid for, and no better the next time. */
const toLengthFault = (characters: number, body: Fields): CallFault =>
  createFault({
    class: 'bad_request',
    retryable: false,
    message: `the answer has ${characters} characters, Assay takes at most ${ANSWER_LIMIT_CHARACTERS}: lower params.maxOutputTokens`,
    usage: body['usage'] === undefined ? null : readChatUsage(body['usage']),
  });

function parseBody(answer: ExchangeAnswer): Fields {
  let body: unknown;
  try {
    body = JSON.parse(answer.body);
  } catch (error) {
    throw toUnreadableFault(answer, error);
  }
  // Some gateways wrap an error object into a list.
  const first: unknown = Array.isArray(body) ? body[0] : body;
  if (isFields(first)) return first;
  throw toBadAnswer(`status ${answer.status} with JSON that is no object: ${answer.body.slice(0, 200)}`);
}

function toUnreadableFault(answer: ExchangeAnswer, error: unknown): CallFault {
  if (isMarkup(answer.body)) {
    return createFault({
      class: 'bad_answer',
      // A page with status 200 is a sign-in form or a wrong address: asking again brings the same page.
      retryable: false,
      message: `HTML instead of JSON with status ${answer.status}; check baseUrl. The page says: ${answer.body.slice(0, 8192)}`,
    });
  }
  if (answer.body.trim() === '') return toBadAnswer(`an empty body with status ${answer.status}`);
  const reason = error instanceof Error ? error.message : String(error);
  return toBadAnswer(`malformed JSON with status ${answer.status} (${reason})`);
}

const toBadAnswer = (message: string): CallFault =>
  createFault({ class: 'bad_answer', retryable: true, message });

const hasError = (fields: Fields): boolean => {
  const error = fields['error'];
  return (isFields(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== '');
};

/** An error body that came with a success status, or an answer without choices. */
function toNoAnswerFault(body: Fields, headers: { readonly [name: string]: string }): CallFault {
  const usage = readChatUsage(body['usage']);
  const spent = usage.inputTokens === null && usage.outputTokens === null ? null : usage;
  const found = readErrorBody(body);
  if (hasError(body) || found.texts.length > 0) {
    return new CallFault(
      { ...NO_FACTS, ...found, headers, label: 'an error in a body with status 200' },
      spent,
    );
  }
  return createFault({
    class: 'bad_answer',
    retryable: true,
    message: 'an answer with status 200 and no choices',
    usage: spent,
  });
}

function toEndedInErrorFault(choice: Fields, body: Fields): CallFault {
  const usage = body['usage'] === undefined ? null : readChatUsage(body['usage']);
  const found = readErrorBody(choice);
  if (hasError(choice)) {
    return new CallFault({ ...NO_FACTS, ...found, label: 'the answer ended in an error' }, usage);
  }
  const message = 'the answer ended with finish_reason "error" and no further word';
  return createFault({ class: 'server', retryable: true, message, usage });
}

function toChatBody(body: Fields, choice: Fields): ChatBody {
  const message = isFields(choice['message']) ? choice['message'] : {};
  const content = readContent(message['content']);
  const calls = readToolCalls(message['tool_calls']);
  const stated = message['reasoning_content'] ?? message['reasoning'];
  const reasoning = (typeof stated === 'string' ? stated : '') + content.reasoning;
  const refusal = message['refusal'];
  const finish = choice['finish_reason'];
  return {
    id: typeof body['id'] === 'string' && body['id'] !== '' ? body['id'] : null,
    usage: isFields(body['usage']) ? body['usage'] : null,
    notes: content.ignored.map((type) => `ignored a content part of type "${type}"`),
    choices: [
      {
        finish_reason:
          typeof finish === 'string' ? (FINISH_REASONS[finish.toLowerCase()] ?? finish.toLowerCase()) : null,
        message: {
          role: 'assistant',
          content: content.text === '' ? null : content.text,
          ...(typeof refusal === 'string' && refusal !== '' ? { refusal } : {}),
          ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      },
    ],
  };
}

/** Reads `content`: a text, or a list of parts of which texts and thoughts are kept. */
export function readContent(content: unknown): ContentParts {
  if (typeof content === 'string') return { text: content, reasoning: '', ignored: [] };
  let text = '';
  let reasoning = '';
  const ignored = new Set<string>();
  for (const part of Array.isArray(content) ? content : []) {
    const type = isFields(part) && typeof part['type'] === 'string' ? part['type'] : 'unknown';
    const said = isFields(part) ? readPartText(part, type) : typeof part === 'string' ? part : null;
    if (said === null) ignored.add(type);
    else if (type === 'thinking' || type === 'reasoning') reasoning += said;
    else text += said;
  }
  return { text, reasoning, ignored: [...ignored] };
}

function readPartText(part: Fields, type: string): string | null {
  if (type === 'text' || type === 'output_text')
    return typeof part['text'] === 'string' ? part['text'] : null;
  if (type !== 'thinking' && type !== 'reasoning') return null;
  const inside = part['thinking'] ?? part['reasoning'] ?? part['text'];
  if (typeof inside === 'string') return inside;
  if (!Array.isArray(inside)) return null;
  return inside.map((one) => (isFields(one) && typeof one['text'] === 'string' ? one['text'] : '')).join('');
}

/** Tool calls with a text for their arguments whatever came; a missing name is the empty one. */
function readToolCalls(raw: unknown): ChatToolCall[] {
  if (!Array.isArray(raw)) return [];
  return raw.filter(isFields).map((call) => {
    const inner = isFields(call['function']) ? call['function'] : {};
    const given = inner['arguments'];
    return {
      id: typeof call['id'] === 'string' ? call['id'] : '',
      function: {
        name: typeof inner['name'] === 'string' ? inner['name'] : '',
        arguments:
          typeof given === 'string'
            ? given
            : given === undefined || given === null
              ? ''
              : JSON.stringify(given),
      },
    };
  });
}
