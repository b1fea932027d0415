import { UNKNOWN_USAGE } from '../domain/usage.ts';
import type { Usage } from '../domain/usage.ts';
import { firstCount, isFields, toFields } from './fields.ts';

/**
 * Usage of a chat completion. What the provider leaves out is null. Where the stated total shows that
 * reasoning was counted beside the completion and not inside it, it is added to the output.
 */
export function readChatUsage(raw: unknown): Usage {
  if (!isFields(raw)) return UNKNOWN_USAGE;
  const input = toFields(raw['prompt_tokens_details']);
  const output = toFields(raw['completion_tokens_details']);
  const inputTokens = firstCount(raw['prompt_tokens']);
  const completion = firstCount(raw['completion_tokens']);
  const reasoningTokens = firstCount(output['reasoning_tokens']);
  const total = firstCount(raw['total_tokens']);
  const known = inputTokens !== null && completion !== null && reasoningTokens !== null;
  const beside = known && reasoningTokens > 0 && total === inputTokens + completion + reasoningTokens;
  return {
    inputTokens,
    outputTokens: beside ? completion + reasoningTokens : completion,
    reasoningTokens,
    cacheReadTokens: firstCount(input['cached_tokens'], raw['prompt_cache_hit_tokens']),
    cacheWriteTokens: firstCount(input['cache_write_tokens'], raw['cache_creation_input_tokens']),
  };
}

/** Cost in USD that a gateway states in `usage.cost`, or null. */
export function readReportedCost(raw: unknown): number | null {
  const cost = toFields(raw)['cost'];
  return typeof cost === 'number' && Number.isFinite(cost) && cost >= 0 ? cost : null;
}
