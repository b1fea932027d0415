import { readErrorDetails } from './error-details.ts';
import type { FailureClass } from './failure.ts';
import { isMarkup } from './failure-message.ts';

/** What is known of a failed call, without any type of a provider's SDK. */
export type FailureFacts = {
  /** HTTP status 300..599 of the answer or stated by the error, or null. */
  readonly status: number | null;
  /** Structured codes, types, error names and system codes in lower case, outermost first. */
  readonly codes: readonly string[];
  readonly texts: readonly string[];
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  /** A wait that the error's own details ask for, in milliseconds, or null. */
  readonly retryAfterMs: number | null;
  /** Put before the message, such as `HTTP 503`. */
  readonly label: string | null;
  /** Set where the caller itself saw what happened, such as its own timer or an empty answer. */
  readonly known: { readonly class: FailureClass; readonly retryable: boolean } | null;
};

export const NO_FACTS: FailureFacts = {
  status: null,
  codes: [],
  texts: [],
  headers: {},
  retryAfterMs: null,
  label: null,
  known: null,
};

/** At most this many errors of a cause chain are looked at. */
const CHAIN_LIMIT = 10;
/** Longer bodies are not parsed for a structured error. */
const BODY_LIMIT = 1024 * 1024;

type Fields = { readonly [name: string]: unknown };

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const textOf = (value: unknown): string[] => (typeof value === 'string' && value !== '' ? [value] : []);

/**
 * Facts of a thrown value: status from `status`, `statusCode`, `response.status`, `code`, then through the
 * cause chain (ten links, cycles end); codes and messages of every link.
 */
export function readErrorFacts(error: unknown): FailureFacts {
  const links = listChain(error);
  const found = links.map(readLink);
  const headers = found.find((one) => Object.keys(one.headers).length > 0)?.headers ?? {};
  const status = found.find((one) => one.status !== null)?.status ?? null;
  const retryAfterMs = found.find((one) => one.retryAfterMs !== null)?.retryAfterMs ?? null;
  return {
    ...NO_FACTS,
    status,
    headers,
    retryAfterMs,
    codes: found.flatMap((one) => one.codes),
    texts: [...new Set(found.flatMap((one) => one.texts))],
  };
}

/** Facts of an HTTP answer that is no success; the body may be JSON, text, a page, or empty. */
export function readAnswerFacts(answer: {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}): FailureFacts {
  const parsed = answer.body.length > BODY_LIMIT ? undefined : parseJson(answer.body);
  const structured = isFields(parsed) ? readErrorBody(parsed) : null;
  const page = structured === null && isMarkup(answer.body);
  const found = structured?.texts ?? [];
  return {
    ...NO_FACTS,
    status: answer.status >= 300 ? answer.status : (structured?.status ?? null),
    codes: structured?.codes ?? [],
    retryAfterMs: structured?.retryAfterMs ?? null,
    texts: found.length > 0 ? found : textOf(answer.body),
    headers: answer.headers,
    label: `HTTP ${answer.status}${page ? ' with HTML instead of JSON' : ''}`,
  };
}

/** Facts of an error object inside a body: `{error: {...}}`, `{error: "..."}`, `[{error}]`, `{message, code}`. */
export function readErrorBody(
  body: Fields,
): Pick<FailureFacts, 'status' | 'codes' | 'texts' | 'retryAfterMs'> {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const outer = isFields(first) ? first : {};
  const inner = outer['error'];
  const source = isFields(inner) ? inner : outer;
  const texts = [
    ...textOf(inner),
    ...textOf(source['message']),
    ...textOf(source['msg']),
    ...textOf(source['detail']),
  ];
  const names = [source['code'], source['type'], source['status']].filter((name) => typeof name === 'string');
  const details = readErrorDetails(source['details']);
  return {
    status: toStatus(source['code']) ?? toStatus(source['status']) ?? toStatus(source['status_code']),
    codes: [...names.map((name) => name.toLowerCase()), ...details.codes],
    retryAfterMs: details.retryAfterMs,
    texts: texts.length > 0 || !isFields(source['detail']) ? texts : [JSON.stringify(source['detail'])],
  };
}

function listChain(error: unknown): unknown[] {
  const links: unknown[] = [];
  let current = error;
  while (
    current !== undefined &&
    current !== null &&
    links.length < CHAIN_LIMIT &&
    !links.includes(current)
  ) {
    links.push(current);
    current = isFields(current) ? current['cause'] : undefined;
  }
  return links;
}

function readLink(
  link: unknown,
): Pick<FailureFacts, 'status' | 'codes' | 'texts' | 'headers' | 'retryAfterMs'> {
  if (!isFields(link)) {
    return { status: null, codes: [], texts: textOf(link), headers: {}, retryAfterMs: null };
  }
  const response = isFields(link['response']) ? link['response'] : {};
  const data = isFields(link['data']) ? link['data'] : {};
  const body = isFields(data['error']) ? data : isFields(link['error']) ? link : null;
  const inside = body === null ? null : readErrorBody(body);
  const statuses = [link['status'], link['statusCode'], response['status'], link['code']].map(toStatus);
  const names = [...textOf(link['code']), ...textOf(link['type']), ...textOf(link['name'])];
  return {
    status: statuses.find((status) => status !== null) ?? inside?.status ?? null,
    codes: [...names.map((name) => name.toLowerCase()), ...(inside?.codes ?? [])],
    texts: [...textOf(link['message']), ...(inside?.texts ?? [])],
    retryAfterMs: inside?.retryAfterMs ?? null,
    headers: {
      ...readHeaders(response['headers']),
      ...readHeaders(link['headers']),
      ...readHeaders(link['responseHeaders']),
    },
  };
}

/** A failure status: an integer 300..599, also as three digits. A word such as `invalid_api_key` is none. */
function toStatus(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number)) return null;
  return number >= 300 && number <= 599 ? number : null;
}

/** Headers from a plain object or anything with `forEach(value, name)`, names in lower case. */
function readHeaders(source: unknown): { [name: string]: string } {
  if (!isFields(source)) return {};
  const headers: { [name: string]: string } = {};
  const add = (value: unknown, name: unknown): void => {
    const text: unknown = Array.isArray(value) ? value[0] : value;
    if (typeof text === 'string' || typeof text === 'number')
      headers[String(name).toLowerCase()] = String(text);
  };
  if (typeof source['forEach'] === 'function') source['forEach'](add);
  else for (const [name, value] of Object.entries(source)) add(value, name);
  return headers;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
