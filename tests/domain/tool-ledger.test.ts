import { expect, test } from 'vitest';
import { findResolveProblem } from '../../src/domain/resolve-request.ts';
import { decideToolCall, type LedgerState } from '../../src/domain/tool-ledger.ts';
import { changePolicy, findPolicyProblem, toToolPolicy } from '../../src/domain/tool-policy.ts';

const fresh: LedgerState = { kind: 'fresh' };
const completed: LedgerState = { kind: 'completed' };
const started: LedgerState = { kind: 'started', executions: 2 };

const POLICIES = (['refuse', 'ask', 'rerun', 'skip'] as const).flatMap((onUnknown) =>
  [true, false].map((idempotent) => ({ idempotent, onUnknown })),
);

test.each(POLICIES)(
  'AF-18 AF-21 whatever the policy ($onUnknown), a call without a row runs and a completed one never does',
  (policy) => {
    expect(decideToolCall(fresh, policy)).toBe('run');
    expect(decideToolCall(completed, policy)).toBe('replay');
    const resolution = { choice: 'rerun', executions: 1 } as const;
    expect(decideToolCall(completed, policy, resolution)).toBe('replay');
  },
);

test.each(POLICIES.filter(({ idempotent }) => idempotent))(
  'AF-17 a started call of an idempotent tool runs again ($onUnknown)',
  (policy) => {
    expect(decideToolCall(started, policy)).toBe('run_again');
  },
);

test.each([
  ['refuse', 'refuse'],
  ['ask', 'ask'],
  ['rerun', 'run_again'],
  ['skip', 'skip'],
] as const)('AF-17 a started call that may not be repeated follows onUnknown: %s', (onUnknown, decision) => {
  expect(decideToolCall(started, { idempotent: false, onUnknown })).toBe(decision);
});

test.each([
  ['done', 'accept'],
  ['rerun', 'run_again'],
  ['skip', 'skip'],
  ['expired', 'refuse'],
] as const)(
  'AF-17 asked about, the answer %s decides, for the executions that it was about',
  (choice, decision) => {
    const policy = { idempotent: false, onUnknown: 'ask' } as const;
    expect(decideToolCall(started, policy, { choice, executions: 2 })).toBe(decision);
    expect(decideToolCall(started, policy, { choice, executions: 1 })).toBe('ask');
    expect(decideToolCall(started, { ...policy, onUnknown: 'refuse' }, { choice, executions: 2 })).toBe(
      'refuse',
    );
  },
);

test('AF-08 a policy has the defaults of its kind, what a file says is kept, and contradictions are named', () => {
  expect(toToolPolicy({})).toEqual({
    idempotent: false,
    timeoutMs: 60_000,
    maxAttempts: 1,
    onUnknown: 'refuse',
  });
  const repeatable = changePolicy(toToolPolicy({}), { idempotent: true, timeoutMs: 5 });
  expect(repeatable).toEqual({ idempotent: true, timeoutMs: 5, maxAttempts: 3, onUnknown: 'rerun' });
  expect(changePolicy(repeatable, { idempotent: false })).toMatchObject({
    maxAttempts: 1,
    onUnknown: 'refuse',
  });
  expect(changePolicy(repeatable, { onUnknown: 'skip' })).toMatchObject({ idempotent: true, maxAttempts: 3 });
  expect(findPolicyProblem(changePolicy(toToolPolicy({}), { maxAttempts: 2 }))).toContain('idempotent: true');
  expect(findPolicyProblem(repeatable)).toBeNull();
});

test('what a person sends about a call is checked before it is taken', () => {
  const asked = { tryNumber: 1, step: 3, call: 2, tool: 'pay', preview: '{}', executions: 1 };
  const problem = (input: unknown) => findResolveProblem(input, asked);
  expect(problem({ choice: 'done', output: 'paid', step: 3, call: 2, by: 'ana' })).toBeNull();
  expect(problem('done')).toContain('expected { choice, output? }');
  expect(problem({ choice: 'again' })).toContain('expected one of done, rerun, skip, got "again"');
  expect(problem({ choice: 'skip', output: 'x' })).toContain('"done" alone');
  expect(problem({ choice: 'done', output: 'x'.repeat(20_000) })).toContain('at most 16384');
  expect(problem({ choice: 'done', step: 2 })).toContain('what waits is pay (step 3, call 2)');
  expect(problem({ choice: 'done', outptu: 'x' })).toContain('outptu');
});
