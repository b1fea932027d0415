import { expect, test } from 'vitest';
import type { AgentEnd, Phase, Reason } from '../../src/domain/outcome.ts';
import { NO_TRIES, planTry, type NextTry } from '../../src/domain/retry-scope.ts';

const toReason = (phase: Phase, code = 'server', message = 'the engine is down'): Reason => ({
  code,
  phase,
  message,
});

const failed = (
  outcome: 'infra' | 'error' | 'interrupted' | 'refused' | 'not_run',
  phase: Phase = 'run',
  code = 'server',
): AgentEnd => ({ kind: 'failed', outcome, reason: toReason(phase, code) });
const ended: AgentEnd = { kind: 'ended', limit: null };

type Args = Parameters<typeof planTry>[0];

const plan = (
  change: Partial<Args> & { readonly end?: AgentEnd; readonly gradingFailure?: Reason } = {},
): NextTry => {
  const { end = failed('infra'), gradingFailure = null, ...rest } = change;
  return planTry({
    result: { end, gradingFailure },
    evaluation: 'reuse',
    discarded: NO_TRIES,
    retries: { max: 9, patterns: null },
    draw: 0,
    ...rest,
  });
};

test.each([
  [0, 0, 2_500],
  [0, 0.999_999, 5_000],
  [1, 0, 5_000],
  [2, 0.5, 15_000],
  [3, 0, 20_000],
  [4, 0, 30_000],
  [8, 0.999_999, 60_000],
])('AC-R14 after %i discarded tries and with draw %d the next one waits %i ms', (spent, draw, delayMs) => {
  expect(plan({ discarded: { spent, lost: 0 }, draw })).toMatchObject({
    kind: 'again',
    delayMs,
    pattern: null,
  });
});

const SCOPES: readonly (readonly [
  string,
  Phase,
  AgentEnd,
  'reuse' | 'none' | 'fresh',
  'attempt' | 'grading',
])[] = [
  ['opening', 'open', failed('infra', 'open'), 'fresh', 'attempt'],
  ['preparing', 'prepare', failed('infra', 'prepare'), 'none', 'attempt'],
  ['the run', 'run', failed('infra'), 'fresh', 'attempt'],
  ['the run after tokens', 'run', failed('interrupted'), 'fresh', 'attempt'],
  ['collecting', 'collect', failed('infra', 'collect'), 'fresh', 'attempt'],
  ['grading with reuse', 'evaluate', ended, 'reuse', 'attempt'],
  ['grading with none', 'evaluate', ended, 'none', 'grading'],
  ['grading with fresh', 'evaluate', ended, 'fresh', 'grading'],
];

test.each(SCOPES)(
  'AC-R1 AC-R5 AC-R7 a failure in %s runs the right part again',
  (...[, phase, end, evaluation, scope]) => {
    const graded = end.kind === 'ended' ? { gradingFailure: toReason('evaluate') } : {};
    expect(plan({ end, evaluation, ...graded })).toMatchObject({ kind: 'again', scope, reason: { phase } });
  },
);

test('AC-R1 one budget is shared by all stages: open, grading, grading, exhausted', () => {
  const retries = { max: 2, patterns: null };
  const graded = { end: ended, gradingFailure: toReason('evaluate'), evaluation: 'none', retries } as const;
  expect(plan({ end: failed('infra', 'open'), evaluation: 'none', retries })).toMatchObject({
    scope: 'attempt',
    discarded: { spent: 1, lost: 0 },
  });
  expect(plan({ ...graded, discarded: { spent: 1, lost: 0 } })).toMatchObject({ scope: 'grading' });
  expect(plan({ ...graded, discarded: { spent: 2, lost: 0 } })).toEqual({ kind: 'final' });
});

test('AC-R11 an agent that ended and was graded is never tried again, whatever a pattern says', () => {
  expect(plan({ end: ended, retries: { max: 3, patterns: ['.*'] } })).toEqual({ kind: 'final' });
});

test.each(['refused', 'not_run'] as const)(
  'AC-R11 an end as %s is final, whatever a pattern says',
  (outcome) => {
    expect(plan({ end: failed(outcome), retries: { max: 3, patterns: ['.*'] } })).toEqual({ kind: 'final' });
  },
);

test('AC-R8 an error that the run returned is tried again only where an expression says so', () => {
  const end = failed('error');
  expect(plan({ end })).toEqual({ kind: 'final' });
  expect(plan({ end, retries: { max: 1, patterns: ['other'] } })).toEqual({ kind: 'final' });
  expect(plan({ end, retries: { max: 1, patterns: ['^the engine'] } })).toMatchObject({
    scope: 'attempt',
    pattern: '^the engine',
  });
});

test.each([
  [[], null],
  [['engine .* down'], 'engine .* down'],
  [['^server$'], '^server$'],
  [['nothing', '^engine'], null],
])('AC-R3 patterns %j', (patterns, pattern) => {
  const next = plan({ retries: { max: 1, patterns } });
  expect(next.kind === 'again' ? next.pattern : null).toBe(pattern);
  expect(next.kind).toBe(pattern === null ? 'final' : 'again');
});

test('a lost environment is tried elsewhere three times outside the budget, then inside it', () => {
  const end = failed('infra', 'run', 'environment_lost');
  const none = { max: 0, patterns: [] };
  const counts = [0, 1, 2, 3].map((lost) => plan({ end, retries: none, discarded: { spent: 0, lost } }).kind);
  expect(counts).toEqual(['again', 'again', 'again', 'final']);
  expect(plan({ end, discarded: { spent: 0, lost: 3 } })).toMatchObject({ discarded: { spent: 1, lost: 3 } });
});
