import { isNoEvidence } from '../domain/no-evidence.ts';
import { UNKNOWN_USAGE, type Usage } from '../domain/usage.ts';
import { createFault } from './provider-error.ts';

type Said = {
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly unknown[];
};

/**
 * What a provider's counts are worth: zero tokens for an answer that says something are no count. Throws a
 * `CallFault` when a "success" is an error's text without a token.
 */
export function checkEvidence(
  said: Said,
  stated: Usage,
): { readonly usage: Usage; readonly notes: readonly string[] } {
  if (isNoEvidence(said.text, stated)) {
    throw createFault({
      class: 'no_evidence',
      retryable: false,
      message: `a success without a model's tokens, whose text is an error: ${said.text}`,
      usage: stated,
    });
  }
  if (isCounted(stated, said)) return { usage: stated, notes: [] };
  return {
    usage: UNKNOWN_USAGE,
    notes: ['the provider counted 0 tokens for an answer: taken as unknown'],
  };
}

/** Zero tokens in and out for an answer that says something means that the server does not count. */
const isCounted = (usage: Usage, said: Said): boolean =>
  usage.inputTokens !== 0 ||
  usage.outputTokens !== 0 ||
  (said.text === '' && said.reasoning === null && said.toolCalls.length === 0);
