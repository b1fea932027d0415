import { expect, test } from 'vitest';
import { checkLimits } from '../../src/domain/agent-limits.ts';
import type { AgentSpending } from '../../src/domain/agent-limits.ts';

const NO_LIMITS = { attemptTimeMs: null, attemptTokens: null, attemptCostUsd: null, modelCallTimeMs: null };
const ALL_LIMITS = { attemptTimeMs: 3_000, attemptTokens: 500, attemptCostUsd: 0.5, modelCallTimeMs: 10 };

const spend = (change: Partial<AgentSpending>): AgentSpending => ({
  limits: NO_LIMITS,
  steps: 1,
  maxSteps: 10,
  tokens: 100,
  costUsd: 0.1,
  measuredMs: 1_000,
  ...change,
});

test.each<[string, Partial<AgentSpending>, ReturnType<typeof checkLimits>]>([
  ['nothing is limited but steps', {}, null],
  ['every limit has room', { limits: ALL_LIMITS }, null],
  ['the last step is done', { steps: 10 }, { kind: 'steps', limit: 10, measured: 10 }],
  ['one step is left', { steps: 9 }, null],
  [
    'the time is used up',
    { limits: ALL_LIMITS, measuredMs: 3_000 },
    { kind: 'time', limit: 3_000, measured: 3_000 },
  ],
  ['a millisecond is left', { limits: ALL_LIMITS, measuredMs: 2_999 }, null],
  ['tokens are passed', { limits: ALL_LIMITS, tokens: 700 }, { kind: 'tokens', limit: 500, measured: 700 }],
  ['tokens are unknown', { limits: ALL_LIMITS, tokens: null }, null],
  ['the cost is reached', { limits: ALL_LIMITS, costUsd: 0.5 }, { kind: 'cost', limit: 0.5, measured: 0.5 }],
  ['the cost is unknown', { limits: ALL_LIMITS, costUsd: null }, null],
  [
    'a limit is zero',
    { limits: { ...NO_LIMITS, attemptCostUsd: 0 }, costUsd: 0 },
    { kind: 'cost', limit: 0, measured: 0 },
  ],
  [
    'several are reached',
    { limits: ALL_LIMITS, measuredMs: 9_000, tokens: 900, costUsd: 9, steps: 10 },
    { kind: 'time', limit: 3_000, measured: 9_000 },
  ],
])('an agent is told its limit when %s', (_name, change, expected) => {
  expect(checkLimits(spend(change))).toEqual(expected);
});
