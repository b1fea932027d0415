import { NO_FACTS, readAnswerFacts, readErrorBody } from '../domain/failure-facts.ts';
import { isMarkup } from '../domain/failure-message.ts';
import type { Usage } from '../domain/usage.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { isFields } from './fields.ts';
import type { Fields } from './fields.ts';
import { CallFault, createFault } from './provider-error.ts';

/** More text than any model writes at once; scorers and the store take every answer whole. */
export const ANSWER_LIMIT_CHARACTERS = 2 * 1024 * 1024;

/**
 * The JSON object of a successful answer. Throws a `CallFault` for other statuses, pages, empty bodies and
 * broken JSON.
 */
export function parseBody(answer: ExchangeAnswer): Fields {
  if (answer.status < 200 || answer.status > 299) throw new CallFault(readAnswerFacts(answer));
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

export const hasError = (fields: Fields): boolean => {
  const error = fields['error'];
  return (isFields(error) && Object.keys(error).length > 0) || (typeof error === 'string' && error !== '');
};

/** An error that came with a success status, or a body that holds no answer (`missing` says which part). */
export function toNoAnswerFault(
  body: Fields,
  facts: {
    readonly headers: { readonly [name: string]: string };
    readonly usage: Usage;
    readonly missing: string;
  },
): CallFault {
  const { headers, usage, missing } = facts;
  const spent = toSpent(usage);
  const found = readErrorBody(body);
  if (hasError(body) || found.texts.length > 0) {
    return new CallFault(
      { ...NO_FACTS, ...found, headers, label: 'an error in a body with status 200' },
      spent,
    );
  }
  const message = `an answer with status 200 and no ${missing}`;
  return createFault({ class: 'bad_answer', retryable: true, message, usage: spent });
}

/** Null where the provider counted nothing. */
export const toSpent = (usage: Usage): Usage | null =>
  usage.inputTokens === null && usage.outputTokens === null ? null : usage;

/** Refuses an answer of more than 2 million characters: the model's own doing, paid for, and no better the next time. */
export function checkLength(texts: readonly (string | null | undefined)[], usage: Usage): void {
  const characters = texts.reduce((sum: number, text) => sum + (text?.length ?? 0), 0);
  if (characters <= ANSWER_LIMIT_CHARACTERS) return;
  throw createFault({
    class: 'bad_request',
    retryable: false,
    message: `the answer has ${characters} characters, Assay takes at most ${ANSWER_LIMIT_CHARACTERS}: lower params.maxOutputTokens`,
    usage: toSpent(usage),
  });
}
