import type { FailureClass } from './failure.ts';

type TextRule = { readonly class: FailureClass; readonly pattern: RegExp };

/** Start of the text, of a sentence, or of a quoted message inside it. */
const START = String.raw`(?:^|[.:;!?>"'(\[{]\s*|[-|]\s+)`;
const anchored = (body: string): RegExp => new RegExp(`${START}(?:${body})`, 'i');

/** Structured error codes and types as providers send them, in lower case. */
export const CODE_CLASSES: { readonly [code: string]: FailureClass } = {
  context_length_exceeded: 'context_overflow',
  exceed_context_size_error: 'context_overflow',
  context_window_exceeded: 'context_overflow',
  context_length_exceeded_error: 'context_overflow',
  model_context_window_exceeded: 'context_overflow',
  prompt_too_long: 'context_overflow',
  input_too_long: 'context_overflow',
  insufficient_quota: 'billing',
  insufficient_balance: 'billing',
  insufficient_credits: 'billing',
  insufficient_funds: 'billing',
  exceeded_current_quota_error: 'billing',
  quota_exhausted: 'billing',
  billing_hard_limit_reached: 'billing',
  billing_not_active: 'billing',
  billing_error: 'billing',
  payment_required: 'billing',
  credit_balance_too_low: 'billing',
  daily_quota_exceeded: 'billing',
  arrearage: 'billing',
  invalid_api_key: 'credential',
  api_key_invalid: 'credential',
  authentication_error: 'credential',
  invalid_authentication_error: 'credential',
  unauthorized: 'credential',
  unauthenticated: 'credential',
  account_deactivated: 'credential',
  permission_error: 'credential',
  permission_denied: 'credential',
  minute_quota_exceeded: 'throttled',
  rate_limit_exceeded: 'throttled',
  rate_limit_error: 'throttled',
  rate_limit_reached_error: 'throttled',
  rate_limited: 'throttled',
  too_many_requests: 'throttled',
  throttling_exception: 'throttled',
  resource_exhausted: 'throttled',
  overloaded_error: 'server',
  engine_overloaded_error: 'server',
  engine_overloaded: 'server',
  overloaded: 'server',
  server_error: 'server',
  internal_server_error: 'server',
  internal_error: 'server',
  api_error: 'server',
  service_unavailable: 'server',
  unavailable: 'server',
  bad_gateway: 'server',
  timeout: 'time_out',
  timeout_error: 'time_out',
  invalid_request_error: 'bad_request',
  invalid_argument: 'bad_request',
  not_found_error: 'bad_request',
  model_not_found: 'bad_request',
  invalid_prompt: 'bad_request',
  content_policy_violation: 'bad_request',
  request_too_large: 'bad_request',
};

/** Codes of Node and undici for a connection that failed; any of them may work the next time. */
/** System codes of a connection that was never made: nothing was sent, nothing can have been charged. */
export const NEVER_SENT_CODES: ReadonlySet<string> = new Set([
  'econnrefused',
  'enotfound',
  'eai_again',
  'ehostunreach',
  'ehostdown',
  'enetunreach',
  'enetdown',
  'eaddrnotavail',
]);

export const CONNECTION_CODES: ReadonlySet<string> = new Set([
  'econnreset',
  'econnrefused',
  'econnaborted',
  'epipe',
  'enotfound',
  'eai_again',
  'ehostunreach',
  'ehostdown',
  'enetunreach',
  'enetdown',
  'enetreset',
  'eaddrnotavail',
  'eproto',
  'und_err_socket',
  'und_err_closed',
  'und_err_destroyed',
  'und_err_req_content_length_mismatch',
  'und_err_res_content_length_mismatch',
]);

export const TIME_OUT_CODES: ReadonlySet<string> = new Set([
  'etimedout',
  'esockettimedout',
  'timeouterror',
  'und_err_connect_timeout',
  'und_err_headers_timeout',
  'und_err_body_timeout',
]);

export const CANCEL_CODES: ReadonlySet<string> = new Set(['aborterror', 'abort_err', 'und_err_aborted']);

/** Codes of the file system: a fault of this machine that no second request mends. */
export const FILE_CODES: ReadonlySet<string> = new Set([
  'enoent',
  'eacces',
  'eperm',
  'eisdir',
  'enotdir',
  'eexist',
  'enospc',
  'erofs',
  'enametoolong',
]);

/** A limit that refills by itself, although the text speaks of a quota. */
export const SHORT_LIMIT = /\bper[\s_-]?(?:second|minute)\b|PerMinute|\b(?:try again|retry) in \d/i;

/** A limit of nothing, which no wait refills although the text names a minute. */
export const NO_QUOTA = /\bquota exceeded\b[^\n]*\blimit: 0\b/i;

export const OVERFLOW_RULE: TextRule = {
  class: 'context_overflow',
  pattern: anchored(
    [
      String.raw`this model'?s maximum (?:context|prompt) length is`,
      String.raw`(?:the |your )?(?:prompt|input) is too long`,
      String.raw`(?:the |your )?input (?:tokens|token count|length)\b[^.]{0,80}\bexceeds?\b`,
      String.raw`(?:the |your )?(?:request|prompt|input|messages?)\b[^.]{0,80}\bexceeds? (?:the |this |your )?(?:available |maximum |model'?s )*(?:context|token limit)`,
      String.raw`requested tokens\b[^.]{0,40}\bexceeds? (?:the )?context window`,
      String.raw`(?:the )?(?:decoder |encoder )?prompt\b[^.]{0,60}\blonger than the maximum (?:model|context) length`,
      String.raw`(?:the )?(?:maximum )?context (?:length|window|size|limit) (?:is |was |has been )?exceeded`,
      String.raw`(?:the )?number of tokens to keep from the initial prompt is greater than the context length`,
      String.raw`prompt contains \d+ tokens\b[^.]{0,80}\bmaximum context length`,
    ].join('|'),
  ),
};

export const BILLING_RULE: TextRule = {
  class: 'billing',
  pattern: anchored(
    [
      String.raw`(?:your )?(?:account )?(?:has )?insufficient (?:account )?(?:balance|credits?|funds|quota)\b`,
      String.raw`(?:you have |your account has )?(?:no|not enough|run out of|out of) (?:remaining )?(?:credits?|funds|balance|quota)\b`,
      String.raw`your (?:credit )?balance is (?:too low|insufficient|empty|exhausted)`,
      String.raw`(?:you have |you've )?exceeded your current quota`,
      String.raw`you exceeded your current quota`,
      String.raw`(?:your |the )?(?:daily|weekly|monthly|account|plan|free[- ]tier|api) (?:usage )?(?:quota|credits?|usage limit|spend(?:ing)? limit)\b[^.]{0,60}\b(?:exhausted|exceeded|reached|used up)`,
      String.raw`(?:your |the )?quota (?:is |has been )?(?:exhausted|used up)`,
      String.raw`billing hard limit has been reached`,
      String.raw`you have reached your specified (?:workspace )?(?:api )?usage limits`,
      String.raw`payment required\b`,
      String.raw`this request requires more credits`,
    ].join('|'),
  ),
};

export const CREDENTIAL_RULE: TextRule = {
  class: 'credential',
  pattern: anchored(
    [
      String.raw`(?:the |your )?(?:api|access|secret)[ _-]?(?:key|token)\b[^.]{0,40}\b(?:invalid|expired|not valid|revoked|incorrect|disabled)`,
      String.raw`(?:invalid|incorrect|expired|missing|revoked|no) (?:api|access|authentication)[ _-]?(?:key|token|credentials?)\b`,
      String.raw`invalid authentication\b`,
      String.raw`authentication failed\b`,
      String.raw`unauthorized\s*$`,
    ].join('|'),
  ),
};

export const THROTTLE_RULE: TextRule = {
  class: 'throttled',
  pattern: anchored(
    String.raw`rate[ -]?limit(?:ed)? (?:reached|exceeded|hit)|rate[ -]?limited\b|too many requests\b`,
  ),
};

/** More than a whole minute's limit in one request: the same request never fits. */
export const TOO_LARGE_RULE: TextRule = {
  class: 'bad_request',
  pattern: anchored(String.raw`request too large for\b`),
};

export const CONNECTION_RULE: TextRule = {
  class: 'connection',
  pattern: anchored(
    String.raw`connection (?:error|refused|reset|closed|aborted|timed out)\b|socket hang up\b|fetch failed\s*$|network error\b`,
  ),
};

const STATUS_WORDS =
  'bad request|unauthorized|payment required|forbidden|not found|request timeout|conflict|payload too large|unprocessable|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out';

const STATUS_PATTERNS: readonly RegExp[] = [
  /^(?:\w*error:?\s+)?(?:http(?:\/\d(?:\.\d)?)?|(?:api |http )?(?:error|status)(?: code)?|request failed with status(?: code)?)[\s:=]+([345]\d\d)\b(?=\s*(?:$|[-:,.;)({]|[A-Z"']))/i,
  new RegExp(String.raw`^(?:\w*error:?\s+)?([345]\d\d)[\s:-]+(?:${STATUS_WORDS})\b`, 'i'),
];

/** Status that a text states at its very start ("HTTP 400", "503 Service Unavailable"), or null. */
export function findStatedStatus(text: string): number | null {
  for (const pattern of STATUS_PATTERNS) {
    const digits = pattern.exec(text)?.[1];
    if (digits !== undefined) return Number(digits);
  }
  return null;
}
