import type { ClassifiedFailure, FailureClass } from './failure.ts';
import type { FailureFacts } from './failure-facts.ts';
import { toReadableMessage } from './failure-message.ts';
import {
  BILLING_RULE,
  CANCEL_CODES,
  CODE_CLASSES,
  CONNECTION_CODES,
  CONNECTION_RULE,
  CREDENTIAL_RULE,
  FILE_CODES,
  NEVER_SENT_CODES,
  NO_QUOTA,
  findStatedStatus,
  OVERFLOW_RULE,
  SHORT_LIMIT,
  THROTTLE_RULE,
  TIME_OUT_CODES,
  TOO_LARGE_RULE,
} from './failure-patterns.ts';
import { findRetryAfter } from './retry-after.ts';

/** A user's rule: every given field must match. Looked at before the built-in table. */
export type FailureRule = {
  readonly status?: number;
  /** Structured code or type, any case. */
  readonly code?: string;
  /** Regular expression over the failure's texts, any case. */
  readonly text?: string;
  readonly class: FailureClass;
  readonly retryable: boolean;
};

const SHORT_CODE = 'minute_quota_exceeded';

type Verdict = { readonly class: FailureClass; readonly retryable: boolean };

const RETRYABLE: ReadonlySet<FailureClass> = new Set([
  'throttled',
  'server',
  'connection',
  'time_out',
  'bad_answer',
  'unknown',
]);

const toVerdict = (name: FailureClass): Verdict => ({ class: name, retryable: RETRYABLE.has(name) });

/**
 * Class of a failed model call: user rules, then what the caller itself saw, then cancellation,
 * structured codes, status, system codes, anchored texts. Anything else is `unknown` and retried.
 * `now` in milliseconds since the epoch reads `Retry-After` dates.
 */
export function classifyFailure(
  facts: FailureFacts,
  options: { readonly now: number; readonly rules?: readonly FailureRule[] },
): ClassifiedFailure {
  const verdict = decideByRules(facts, options.rules ?? []) ?? facts.known ?? decide(facts);
  return {
    ...verdict,
    status: facts.status,
    retryAfterMs: findRetryAfter(facts, options.now),
    served: facts.status === null ? maybeServed(facts) : facts.status < 400,
    message: toMessage(facts),
  };
}

const maybeServed = (facts: FailureFacts): boolean => !facts.codes.some((code) => NEVER_SENT_CODES.has(code));

function decideByRules(facts: FailureFacts, rules: readonly FailureRule[]): Verdict | null {
  const rule = rules.find((one) => matchesRule(facts, one));
  return rule === undefined ? null : { class: rule.class, retryable: rule.retryable };
}

function matchesRule(facts: FailureFacts, rule: FailureRule): boolean {
  if (rule.status === undefined && rule.code === undefined && rule.text === undefined) return false;
  if (rule.status !== undefined && rule.status !== facts.status) return false;
  if (rule.code !== undefined && !facts.codes.includes(rule.code.toLowerCase())) return false;
  if (rule.text === undefined) return true;
  const pattern = new RegExp(rule.text, 'i');
  return facts.texts.some((text) => pattern.test(text));
}

function decide(facts: FailureFacts): Verdict {
  if (facts.codes.some((code) => CANCEL_CODES.has(code))) return toVerdict('cancelled');
  const classes = facts.codes.map(toCodeClass);
  const certain = classes.find((name) => name === 'context_overflow' || name === 'billing');
  if (certain !== undefined) return toVerdict(certain);
  const coded = classes.find((name) => name !== undefined);
  if (facts.status !== null) return toVerdict(decideByStatus(facts, facts.status));
  if (coded !== undefined) return toVerdict(refine(facts, coded));
  return decideBySystem(facts) ?? decideByText(facts);
}

const toCodeClass = (code: string): FailureClass | undefined =>
  Object.hasOwn(CODE_CLASSES, code) ? CODE_CLASSES[code] : undefined;

function decideByStatus(facts: FailureFacts, status: number): FailureClass {
  if (status === 402) return 'billing';
  if (status === 401 || status === 403) return says(facts, BILLING_RULE) ? 'billing' : 'credential';
  if (status === 429) return refine(facts, 'throttled');
  if (status === 408) return 'time_out';
  if (status === 409 || status === 425 || status >= 500) return 'server';
  return refine(facts, 'bad_request');
}

/** A quota hides behind "too many requests", an overflow or a bad key behind "bad request". */
function refine(facts: FailureFacts, name: FailureClass): FailureClass {
  if (name === 'throttled' || name === 'bad_request') {
    const short = facts.texts.some((text) => SHORT_LIMIT.test(text)) || facts.codes.includes(SHORT_CODE);
    const none = facts.texts.some((text) => NO_QUOTA.test(text));
    if ((none || !short) && says(facts, BILLING_RULE)) return 'billing';
  }
  if (name === 'throttled' && says(facts, TOO_LARGE_RULE)) return 'bad_request';
  if (name !== 'bad_request') return name;
  if (says(facts, OVERFLOW_RULE)) return 'context_overflow';
  if (facts.codes.some((code) => toCodeClass(code) === 'credential')) return 'credential';
  return says(facts, CREDENTIAL_RULE) ? 'credential' : name;
}

function decideBySystem(facts: FailureFacts): Verdict | null {
  if (facts.codes.some((code) => TIME_OUT_CODES.has(code))) return toVerdict('time_out');
  if (facts.codes.some((code) => CONNECTION_CODES.has(code))) return toVerdict('connection');
  if (facts.codes.some((code) => FILE_CODES.has(code))) return { class: 'unknown', retryable: false };
  return null;
}

function decideByText(facts: FailureFacts): Verdict {
  const stated = facts.texts.map(findStatedStatus).find((status) => status !== null);
  if (stated !== undefined && stated !== null) return toVerdict(decideByStatus(facts, stated));
  const rules = [OVERFLOW_RULE, BILLING_RULE, CREDENTIAL_RULE, THROTTLE_RULE, CONNECTION_RULE];
  const rule = rules.find((one) => says(facts, one));
  return toVerdict(rule === undefined ? 'unknown' : rule.class);
}

const says = (facts: FailureFacts, rule: { readonly pattern: RegExp }): boolean =>
  facts.texts.some((text) => rule.pattern.test(text.slice(0, 4096)));

/** Label, code and texts in one line; a cause is added when it says more than the error around it. */
function toMessage(facts: FailureFacts): string {
  const texts = facts.texts.filter(
    (text, index) => !facts.texts.some((other, at) => at < index && other.includes(text)),
  );
  const code = facts.label === null ? undefined : facts.codes.find((one) => toCodeClass(one) !== undefined);
  const head = [facts.label, code].filter((part) => part !== null && part !== undefined).join(' ');
  const said = texts.slice(0, 3).join(' (cause: ') + ')'.repeat(Math.max(0, Math.min(texts.length, 3) - 1));
  const fallback = facts.codes[0] ?? (facts.status === null ? 'no message' : `status ${facts.status}`);
  const tail = said === '' ? (head === '' ? fallback : 'no message') : said;
  return toReadableMessage(head === '' ? tail : `${head}: ${tail}`);
}
