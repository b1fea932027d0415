import { NO_FACTS, readErrorBody } from '../domain/failure-facts.ts';
import { checkLength, hasError, parseBody, toNoAnswerFault } from './answer-body.ts';
import { readChatUsage } from './chat-usage.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';
import { CallFault, createFault } from './provider-error.ts';

/** A chat completion in the one shape that the AI SDK reads, with notes of what was left out. */
export type ChatBody = {
  readonly id: string | null;
  readonly choices: readonly [ChatChoice];
  readonly usage: Fields | null;
  readonly notes: readonly string[];
};

export type ChatChoice = {
  readonly index: 0;
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
  readonly type: 'function';
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

/**
 * Checks an answer and brings it into shape. Throws a `CallFault` for everything that is no model's
 * answer: other statuses, pages, broken JSON, error bodies with status 200, no choices, a choice that
 * ended in an error.
 */
export function readChatAnswer(answer: ExchangeAnswer): ChatBody {
  const body = parseBody(answer);
  const choices = Array.isArray(body['choices']) ? body['choices'] : [];
  const usage = readChatUsage(body['usage']);
  if (hasError(body) || !isFields(choices[0])) {
    throw toNoAnswerFault(body, { headers: answer.headers, usage, missing: 'choices' });
  }
  const choice = choices[0];
  if (choice['finish_reason'] === 'error' || hasError(choice)) throw toEndedInErrorFault(choice, body);
  const chat = toChatBody(body, choice);
  const { content, refusal, reasoning_content, tool_calls } = chat.choices[0].message;
  const calls = (tool_calls ?? []).map((call) => call.function.arguments);
  checkLength([content, refusal, reasoning_content, ...calls], usage);
  return chat;
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
        index: 0,
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
      type: 'function',
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
