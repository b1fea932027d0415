import { expect, test } from 'vitest';
import { toCommandEnd, type CommandFacts } from '../../src/domain/command-end.ts';
import { UNKNOWN_USAGE } from '../../src/domain/usage.ts';

const toEnd = (change: Partial<CommandFacts>) =>
  toCommandEnd({
    exitCode: 0,
    signal: null,
    timedOut: false,
    spawnError: null,
    program: 'agent',
    usage: UNKNOWN_USAGE,
    answer: 'done',
    tail: '',
    durationMs: 1_200,
    timeLimitMs: 1_000,
    exceeded: null,
    ...change,
  });

const tokens = (outputTokens: number) => ({ ...UNKNOWN_USAGE, inputTokens: 500, outputTokens });
const failed = (outcome: string, code: string) => ({ kind: 'failed', outcome, reason: { code } });

test.each([
  ['exit 127 without tokens', { exitCode: 127 }, failed('infra', 'missing_program')],
  ['exit 126 without tokens', { exitCode: 126 }, failed('infra', 'missing_program')],
  [
    'a failed start',
    { exitCode: null, spawnError: 'spawn agent ENOENT' },
    failed('infra', 'missing_program'),
  ],
  ['exit 127 with tokens', { exitCode: 127, usage: tokens(12) }, failed('error', 'agent_failed')],
  ['exit 1 without tokens', { exitCode: 1 }, failed('error', 'agent_failed')],
  ['a signal', { exitCode: null, signal: 'SIGKILL' }, failed('error', 'agent_failed')],
  [
    'a time-out',
    { exitCode: null, signal: 'SIGKILL', timedOut: true },
    { kind: 'ended', limit: { kind: 'time', limit: 1_000, measured: 1_200 } },
  ],
  ['success', {}, { kind: 'ended', limit: null }],
] as const)('CB-01 %s', (_name, change, expected) => {
  expect(toEnd(change)).toMatchObject(expected);
});

test('CB-05 an API that refuses for good is the reason of a failure, and exit 0 never says so', () => {
  const tail = 'Error: insufficient credits\n';
  expect(toEnd({ exitCode: 1, tail })).toMatchObject(failed('infra', 'billing'));
  expect(toEnd({ exitCode: 1, tail, usage: tokens(9) })).toMatchObject(failed('interrupted', 'billing'));
  expect(toEnd({ exitCode: 0, tail })).toMatchObject({ kind: 'ended' });
  expect(toEnd({ exitCode: null, timedOut: true, tail })).toMatchObject({ kind: 'ended' });
});

test('CB-10 success without a single output token and an error as the answer is no evidence of a model', () => {
  const answer = 'API Error: connection refused';
  expect(toEnd({ answer, usage: tokens(0) })).toMatchObject(failed('infra', 'no_evidence'));
  expect(toEnd({ answer })).toMatchObject({ kind: 'ended' });
  expect(toEnd({ answer, usage: tokens(5) })).toMatchObject({ kind: 'ended' });
});

test('the reason of a failure names the exit, the last line and the limit of the session', () => {
  const end = toEnd({ exitCode: 137, exceeded: 'memory', tail: 'one\nKilled\n\n' });
  expect(end).toMatchObject({
    reason: {
      message: expect.stringMatching(/exit code 137; it hit .*resources\.memory, it last printed: Killed/),
    },
  });
});
