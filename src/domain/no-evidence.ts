import { BILLING_RULE, CREDENTIAL_RULE, findStatedStatus, THROTTLE_RULE } from './failure-patterns.ts';
import type { Usage } from './usage.ts';

const ERROR_START = /^[\s\W]*(?:[a-z]+[ _-]){0,2}(?:error|exception)\b/i;
/** An error text is short; a model's answer about errors is not judged by its first words. */
const ERROR_TEXT_LIMIT = 2_000;

/**
 * Whether a "success" shows no sign of a model: the provider counted no output token, yet there is a text,
 * and the text is an error's (CB-10). An unknown count is no evidence of anything.
 */
export function isNoEvidence(text: string, usage: Usage): boolean {
  return usage.outputTokens === 0 && text.trim() !== '' && isErrorText(text.trim());
}

function isErrorText(text: string): boolean {
  if (text.length > ERROR_TEXT_LIMIT) return false;
  if (ERROR_START.test(text) || findStatedStatus(text) !== null) return true;
  return [BILLING_RULE, CREDENTIAL_RULE, THROTTLE_RULE].some((rule) => rule.pattern.exec(text)?.index === 0);
}
