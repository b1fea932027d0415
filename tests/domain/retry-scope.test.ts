import { expect, test } from 'vitest';
import type { AgentEnd } from '../../src/domain/outcome.ts';
import { planTry } from '../../src/domain/retry-scope.ts';

const failed = (
  outcome: 'infra' | 'error' | 'interrupted' | 'refused',
  message = 'the engine is down',
): AgentEnd => ({
  kind: 'failed',
  outcome,
  reason: { code: 'server', phase: 'run', message },
});
const plan = (change: Partial<Parameters<typeof planTry>[0]> = {}) =>
  planTry({ end: failed('infra'), tryNumber: 1, retries: { max: 9, patterns: null }, draw: 0, ...change });

test.each([
  [1, 0, 2_500],
  [1, 0.999_999, 5_000],
  [2, 0, 5_000],
  [3, 0.5, 15_000],
  [4, 0, 20_000],
  [5, 0, 30_000],
  [9, 0.999_999, 60_000],
])('AC-R14 after try %i with draw %d the next one waits %i ms', (tryNumber, draw, delayMs) => {
  expect(plan({ tryNumber, draw })).toEqual({ kind: 'again', delayMs, pattern: null });
});

test.each(['error', 'interrupted', 'refused'] as const)('AC-R8 an end as %s is final', (outcome) => {
  expect(plan({ end: failed(outcome) })).toEqual({ kind: 'final' });
});

test('AC-R11 an agent that ended is never tried again, whatever a pattern says', () => {
  expect(plan({ end: { kind: 'ended', limit: null }, retries: { max: 3, patterns: ['.*'] } })).toEqual({
    kind: 'final',
  });
});

test('AC-R1 tries end with the budget', () => {
  const retries = { max: 2, patterns: null };
  expect([1, 2, 3].map((tryNumber) => plan({ tryNumber, retries }).kind)).toEqual([
    'again',
    'again',
    'final',
  ]);
});

test.each([
  [[], { kind: 'final' }],
  [['engine .* down'], { kind: 'again', delayMs: 2_500, pattern: 'engine .* down' }],
  [['^server$'], { kind: 'again', delayMs: 2_500, pattern: '^server$' }],
  [['nothing', '^engine'], { kind: 'final' }],
])('AC-R3 patterns %j', (patterns, expected) => {
  expect(plan({ retries: { max: 1, patterns } })).toEqual(expected);
});
