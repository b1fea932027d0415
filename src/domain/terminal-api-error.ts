import { BILLING_RULE, CREDENTIAL_RULE } from './failure-patterns.ts';

/** Why the model API behind an external agent will refuse every further request, as far as its output tells. */
export type TerminalApiError = {
  readonly class: 'billing' | 'credential';
  /** Stable word, such as `http_402`, `balance_exhausted`, `quota_exhausted`, `expired`, `invalid_api_key`. */
  readonly code: string;
  /** The line that says so, at most 300 characters. */
  readonly line: string;
  /** When the provider says that the limit ends, in ms since 1970; null = it does not say. */
  readonly resetAtMs: number | null;
};

type Rule = { readonly class: TerminalApiError['class']; readonly code: string; readonly pattern: RegExp };

/** Start of the line, of a sentence, or of a quoted message; "error" in front of it counts as one. */
const START = String.raw`(?:^|[.:;!?>"'(\[{|]\s*|-\s+|\berror\s+)`;
const anchored = (body: string): RegExp => new RegExp(`${START}(?:${body})`, 'i');

const RULES: readonly Rule[] = [
  {
    class: 'billing',
    code: 'http_402',
    pattern:
      /["']?(?:status|status_?code|code)["']?\s*[:=]\s*402\b|\bhttp(?:\/\d(?:\.\d)?)?[ :]+402\b|\b(?:error|status)(?: code)?:?\s+402\b(?!\s+\w+s\b)/i,
  },
  { class: 'billing', code: 'payment_required', pattern: anchored('payment[ _]required\\b') },
  {
    class: 'billing',
    code: 'balance_exhausted',
    pattern: anchored(
      String.raw`(?:your |the |account )*(?:credit )?balance (?:is |has been |was )?(?:exhausted|depleted|empty|too low|insufficient)`,
    ),
  },
  {
    class: 'billing',
    code: 'insufficient_funds',
    pattern: anchored(
      String.raw`(?:your )?(?:account )?(?:has )?insufficient[ _](?:account )?(?:balance|credits?|quota|funds)\b`,
    ),
  },
  {
    class: 'billing',
    code: 'quota_exhausted',
    pattern: anchored(
      String.raw`(?:you(?:'ve| have)? )?(?:exceeded|reached|hit) your (?:current |usage |monthly |weekly )*(?:quota|limit)|(?:[a-z]+ ){0,3}usage limit reached|(?:your |the )?quota (?:is |has been )?(?:exhausted|used up)`,
    ),
  },
  {
    class: 'credential',
    code: 'expired',
    pattern: anchored(
      String.raw`(?:[\w']+ ){0,3}(?:auth\w*|token|api[ _-]?key|session)\b.{0,20}\bexpired\b|expired\b.{0,20}\b(?:auth\w*|token|api[ _-]?key|session)\b`,
    ),
  },
  {
    class: 'credential',
    code: 'invalid_api_key',
    pattern: anchored(
      String.raw`(?:invalid|incorrect)[ _-](?:x-)?api[ _-]key\b|(?:your |the )?api[ _-]key (?:is )?(?:invalid|not valid)\b`,
    ),
  },
  {
    class: 'credential',
    code: 'unauthorized',
    pattern: /\b401\b.{0,40}\bunauthorized\b|\bunauthorized\b.{0,40}\b401\b|["']authentication_error["']/i,
  },
  { ...BILLING_RULE, class: 'billing', code: 'billing' },
  { ...CREDENTIAL_RULE, class: 'credential', code: 'credential' },
];

/** What an agent says about payments earlier in its output is its work, not its end. */
const TAIL_CHARACTERS = 2_000;

/**
 * Reads the end of the output of an agent that failed: its last 2,000 characters, line by line, the last line first.
 * Null = the output names no such refusal. Whether the agent failed is the caller's to know: a success is never asked about.
 */
export function findTerminalApiError(output: string): TerminalApiError | null {
  const lines = output.slice(-TAIL_CHARACTERS).split(/\r?\n/).toReversed();
  for (const line of lines) {
    const rule = RULES.find(({ pattern }) => pattern.test(line));
    if (rule === undefined) continue;
    const { class: name, code } = rule;
    return { class: name, code, line: line.trim().slice(0, 300), resetAtMs: findReset(line) };
  }
  return null;
}

/** Seconds since 1970 behind a bar, as some agents print the end of a usage limit. */
function findReset(line: string): number | null {
  const seconds = /\|\s*(\d{10})\b/.exec(line)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1_000;
}
