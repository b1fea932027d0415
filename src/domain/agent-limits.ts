import type { Limit } from './outcome.ts';
import type { AttemptLimits } from './suite.ts';

/** What an attempt has used up when its agent is about to take the next step. */
export type AgentSpending = {
  readonly limits: AttemptLimits;
  /** Steps that are done: a step is one answer with its tool calls. */
  readonly steps: number;
  readonly maxSteps: number;
  /** Input and output tokens of the attempt; null = the provider does not say. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Sum of measured step time, without waits for slots and delays. */
  readonly measuredMs: number;
};

/**
 * The first limit that leaves no room for another step, or null: time, tokens, cost, then steps.
 * Time is given in ms, cost in USD. What is unknown reaches no limit.
 */
export function checkLimits(spending: AgentSpending): Limit | null {
  const { limits } = spending;
  return (
    toLimit('time', limits.attemptTimeMs, spending.measuredMs) ??
    toLimit('tokens', limits.attemptTokens, spending.tokens) ??
    toLimit('cost', limits.attemptCostUsd, spending.costUsd) ??
    toLimit('steps', spending.maxSteps, spending.steps)
  );
}

const toLimit = (kind: Limit['kind'], limit: number | null, measured: number | null): Limit | null =>
  limit !== null && measured !== null && measured >= limit ? { kind, limit, measured } : null;
