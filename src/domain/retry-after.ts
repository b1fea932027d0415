import type { FailureFacts } from './failure-facts.ts';
import { parseRetryAfter } from './retry-delay.ts';

/** Longer waits in texts and reset headers are a mistake of their reader. */
const LONGEST_MS = 366 * 24 * 3600 * 1000;

/**
 * Wait that the provider asked for, in milliseconds, or null: the `Retry-After` headers, else the error's own
 * details, else its words ("Please try again in 1m12.5s", "regain access on 2026-12-01 at 00:00 UTC"), else
 * the reset header of a limit of which nothing is left (OpenAI's `x-ratelimit-*`, Anthropic's
 * `anthropic-ratelimit-*`).
 */
export function findRetryAfter(
  facts: Pick<FailureFacts, 'headers' | 'texts' | 'retryAfterMs'>,
  now: number,
): number | null {
  const wait =
    parseRetryAfter(facts.headers, now) ??
    facts.retryAfterMs ??
    firstOf(facts.texts, (text) => parseSaid(text, now)) ??
    findReset(facts.headers, now);
  return wait !== null && wait >= 0 && wait <= LONGEST_MS ? wait : null;
}

function firstOf(texts: readonly string[], read: (text: string) => number | null): number | null {
  for (const text of texts) {
    const found = read(text.slice(0, 4096));
    if (found !== null) return found;
  }
  return null;
}

function parseSaid(text: string, now: number): number | null {
  const [, span] = /\b(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[dhms]))+)/i.exec(text) ?? [];
  if (span !== undefined) return parseSpan(span);
  const [, day, hour] = /\bregain access on (\d{4}-\d{2}-\d{2}) at (\d{2}:\d{2}) UTC/i.exec(text) ?? [];
  return day === undefined ? null : untilDate(`${day}T${hour}:00Z`, now);
}

const UNIT_MS: { readonly [unit: string]: number } = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** `1m12.5s`, `347ms`, `6h0m0s` in milliseconds, or null. */
function parseSpan(text: string): number | null {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(text)) return null;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)];
  return Math.round(
    parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNIT_MS[unit ?? ''] ?? 0), 0),
  );
}

function untilDate(text: string, now: number): number | null {
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(0, time - now);
}

const REMAINING = /^(?:x|anthropic)-ratelimit-(?:remaining-([a-z-]+)|([a-z-]+)-remaining)$/;

/** The longest of the resets whose limit has nothing left. */
function findReset(headers: FailureFacts['headers'], now: number): number | null {
  const waits = Object.entries(headers).flatMap(([name, value]) => {
    const [, openAi, anthropic] = REMAINING.exec(name) ?? [];
    if (value.trim() !== '0' || (openAi ?? anthropic) === undefined) return [];
    const reset =
      openAi === undefined
        ? headers[`anthropic-ratelimit-${anthropic}-reset`]
        : headers[`x-ratelimit-reset-${openAi}`];
    const wait = reset === undefined ? null : (parseSpan(reset) ?? untilDate(reset, now));
    return wait === null ? [] : [wait];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}
