import { expect, test } from 'vitest';
import type { EndpointEvent } from './endpoint-process.ts';
import { compareWithLog, type CallRow } from './findings.ts';
import { planKills } from './kills.ts';

const KILL = { fromMs: 1_000, toMs: 1_010, restartedAtMs: 1_500 };

const row = (changes: Partial<CallRow>): CallRow => ({
  call: 'm/case-001/1',
  requestNumber: 1,
  state: 'completed',
  startedAtMs: 900,
  finishedAtMs: 950,
  ...changes,
});

const ask = (atMs: number, call = 'm/case-001/1'): EndpointEvent => ({
  number: 1,
  call,
  event: 'asked',
  atMs,
});

test('a call that was cut off at a kill may be asked once more', () => {
  const rows = [
    row({ state: 'lost', finishedAtMs: 12_000 }),
    row({ requestNumber: 2, startedAtMs: 12_000, finishedAtMs: 12_100 }),
  ];
  expect(compareWithLog(rows, [ask(910), ask(12_001)], [KILL])).toMatchObject({
    problems: [],
    madeAgain: 0,
    extraRequests: 1,
    inFlight: 1,
    cutOffMs: 10_501,
  });
});

test('a request after the answer was recorded is a recorded call made again', () => {
  const { problems, madeAgain } = compareWithLog([row({})], [ask(910), ask(2_000)], [KILL]);
  expect(madeAgain).toBe(1);
  expect(problems.join('\n')).toContain('a recorded call was made again');
});

test('a call that was lost without having been in flight at a kill is a problem', () => {
  const rows = [
    row({ state: 'lost', startedAtMs: 4_000, finishedAtMs: 5_000 }),
    row({ requestNumber: 2, startedAtMs: 5_000, finishedAtMs: 5_100 }),
  ];
  expect(compareWithLog(rows, [ask(4_001), ask(5_001)], [KILL]).problems).toHaveLength(1);
});

test('a request that the store knows nothing of is a problem', () => {
  expect(compareWithLog([], [ask(910)], [KILL]).problems).toHaveLength(1);
});

test('the first request of a call that was never asked says how soon a run goes on', () => {
  const rows = [row({}), row({ call: 'm/case-002/1', startedAtMs: 1_890, finishedAtMs: 1_990 })];
  const events = [ask(910), ask(1_900, 'm/case-002/1')];
  expect(compareWithLog(rows, events, [KILL])).toMatchObject({
    problems: [],
    firstNewMs: 400,
    cutOffMs: null,
  });
});

test('a seed always gives the same kills, in order', () => {
  const plan = planKills('worker', 5, 200);
  expect(planKills('worker', 5, 200)).toEqual(plan);
  expect(plan.moments.map(({ afterRequests }) => afterRequests)).toEqual(
    plan.moments.map(({ afterRequests }) => afterRequests).sort((a, b) => a - b),
  );
});
