import { expect, test } from 'vitest';
import { parseLimits } from '../../src/cli/parse-limits.ts';
import { describeWait, listOpenNext } from '../../src/cli/waiting-run.ts';

test('limits are given as key=value', () => {
  expect(
    parseLimits([
      'taskConcurrency=8',
      'slots.local=16',
      'slots.my.host=auto',
      'sessions.docker=4',
      'maxRunUsd=2.5',
      'timeout=2h',
    ]),
  ).toEqual({
    taskConcurrency: 8,
    slots: { local: 16, 'my.host': 'auto' },
    sessions: { docker: 4 },
    maxRunUsd: 2.5,
    timeoutMs: 7_200_000,
  });
  expect(parseLimits(['timeout=none'])).toEqual({ timeoutMs: null });
});

test.each([
  ['taskConcurency=8', 'did you mean taskConcurrency?'],
  ['taskConcurrency', 'expected key=value'],
  ['=8', 'expected key=value'],
  ['maxRunUsd=much', 'expected a number, got "much"'],
  ['slots.local=many', 'expected a number'],
  ['timeout=2', 'expected a duration such as 30m'],
])('%s is told as a problem', (word, problem) => {
  expect(() => parseLimits([word])).toThrow(problem);
});

test('a run that waits for somebody says what to type', () => {
  const run = { runId: 'nightly', reason: 'paused by ana: a look' };
  expect(describeWait({ ...run, state: 'running' })).toBeNull();
  expect(describeWait({ ...run, state: 'paused' })).toBe(
    'Paused by ana: a look. `assay unpause nightly` goes on.',
  );
  expect(describeWait({ ...run, state: 'awaiting_approval', reason: 'it is dear' })).toContain(
    'Awaiting approval: it is dear. `assay approve nightly`',
  );
  expect(listOpenNext({ runId: 'nightly', state: 'awaiting_approval' })[0]).toBe('assay approve nightly');
  expect(listOpenNext({ runId: 'nightly', state: 'paused' })[0]).toBe('assay unpause nightly');
  expect(listOpenNext({ runId: 'nightly', state: 'running' })[0]).toBe('assay watch nightly');
});
