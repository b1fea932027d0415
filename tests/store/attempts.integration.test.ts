import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AttemptKey } from '../../src/domain/ids.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import type { Score } from '../../src/domain/score.ts';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { recordAttempts, settleUnrecorded } from '../../src/store/attempts.ts';
import { beginCall, completeCall } from '../../src/store/model-calls.ts';
import { listTaskRefs, planGeneration } from '../../src/store/plans.ts';
import { finishRun, freezeRun, loadRun } from '../../src/store/runs.ts';
import { ENGINE, attemptKey, callKey, openTestStore, prepareRun, recordOne } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const passed: Outcome = { kind: 'scored', score: 1, pass: true, limit: null };
const missed: Outcome = { kind: 'scored', score: 0, pass: false, limit: null };
const failed: Outcome = {
  kind: 'error',
  reason: { code: 'bad_request', phase: 'run', message: 'status 400 \0' },
  limit: null,
};
const score: Score = {
  scorer: 'exact',
  kind: 'exact',
  weight: 1,
  required: true,
  verdict: { kind: 'scored', value: 1, pass: true, explanation: 'equal', metrics: { distance: 0 } },
};
const reason = { code: 'cancel', phase: 'run', message: 'The run was cancelled.' } as const;

const record = (key: AttemptKey, outcome: Outcome, tryNumber = 1) =>
  recordOne(store.pool, {
    key,
    tryNumber,
    outcome,
    scores: [score],
    answerDigest: null,
    answerPreview: 'Par\0is',
  });

const begin = (key: AttemptKey) =>
  beginCall(store.pool, {
    key: callKey(key),
    modelId: 'fast',
    engineId: ENGINE,
    worstTokens: 100,
    worstUsd: 0.5,
    maxRetries: 2,
  });

const finish = (runId: string, generation = 1) => finishRun(store.pool, { runId, generation });

test('cells recorded together are answered in the order given, and one refusal records none of them', async () => {
  await prepareRun(store.pool, 'together', { cases: 3 });
  const one = (task: number, outcome: Outcome, tryNumber = 1) => ({
    key: attemptKey('together', task),
    tryNumber,
    outcome,
    scores: [score],
    answerDigest: null,
    answerPreview: null,
  });
  const answers = await recordAttempts(store.pool, 'together', [one(2, failed), one(1, passed)]);
  expect(answers.map(({ outcome }) => outcome)).toEqual([failed, passed]);
  await expect(recordAttempts(store.pool, 'together', [one(3, passed), one(2, passed, 2)])).rejects.toThrow(
    'was recorded by try 1, not by try 2',
  );
  const { rows } = await store.pool.query(
    `select task, outcome from attempts where run_id = 'together' order by task`,
  );
  expect(rows.map((row) => row.outcome)).toEqual(['scored', 'error', null]);
});

test('FE-01 a run is completed only when planned and recorded cells are the same set', async () => {
  await prepareRun(store.pool, 'exact', { cases: 2 });
  await record(attemptKey('exact', 1), passed);
  await record(attemptKey('exact', 2), failed);
  expect(await finish('exact')).toEqual({ state: 'completed', planned: 2, recorded: 2, missing: [] });
  expect(await finish('exact')).toMatchObject({ state: 'completed' });
  expect((await loadRun(store.pool, 'exact'))?.finishedAt).not.toBeNull();
});

test('FE-04 a missing cell makes the run failed and is named, at most twenty', async () => {
  await prepareRun(store.pool, 'missing', { cases: 30 });
  for (const task of [1, 2, 3, 4]) await record(attemptKey('missing', task), passed);
  const end = await finish('missing');
  expect(end).toMatchObject({ state: 'failed', planned: 30, recorded: 4 });
  expect(end.missing).toHaveLength(20);
  expect(end.missing[0]).toEqual({
    task: 5,
    attempt: 1,
    generation: 1,
    requestIndex: 0,
    modelId: 'fast',
    caseId: 'case-5',
  });
  expect((await loadRun(store.pool, 'missing'))?.reason).toBe('26 of 30 planned cells have no result.');
});

test('FE-02 a redelivery gets the stored outcome; the first write wins', async () => {
  await prepareRun(store.pool, 'twice');
  const key = attemptKey('twice', 1);
  expect(await record(key, failed)).toEqual({ recorded: true, outcome: failed });
  expect(await record(key, passed)).toEqual({ recorded: false, outcome: failed });
});

test('FE-03 another try and a cell outside the plan are errors', async () => {
  await expect(record(attemptKey('twice', 1), passed, 2)).rejects.toThrow(
    'was recorded by try 1, not by try 2',
  );
  await expect(record(attemptKey('twice', 9), passed)).rejects.toThrow('is not in the plan of run twice');
  await expect(record(attemptKey('twice', 1, [1, 2]), passed)).rejects.toThrow('is not in the plan');
  await expect(record(attemptKey('nobody', 1), passed)).rejects.toThrow('is not in the plan of run nobody');
});

test('strategy pass: a pass takes the later attempts out of the plan', async () => {
  await prepareRun(store.pool, 'pass', { cases: 1, k: 3, strategy: 'pass' });
  await record(attemptKey('pass', 1, [1, 1]), missed);
  const tasks = await listTaskRefs(store.pool, { runId: 'pass', generation: 1, afterTask: 0, limit: 10 });
  expect(tasks).toMatchObject([{ task: 1, attempts: [2, 3] }]);
  await record(attemptKey('pass', 1, [2, 1]), passed);
  expect(await finish('pass')).toMatchObject({ state: 'completed', planned: 2, recorded: 2 });
  await expect(record(attemptKey('pass', 1, [3, 1]), passed)).rejects.toThrow('is not in the plan');
});

test('failFast: an error freezes the run as aborted in the same statement', async () => {
  await prepareRun(store.pool, 'fail-fast', { failFast: true });
  await record(attemptKey('fail-fast', 1), missed);
  expect((await loadRun(store.pool, 'fail-fast'))?.frozenState).toBeNull();
  await record(attemptKey('fail-fast', 2), failed);
  expect((await loadRun(store.pool, 'fail-fast'))?.frozenState).toBe('aborted');
});

test('AA-07 cells left over are interrupted with evidence and not_run without, and nothing stays reserved', async () => {
  await prepareRun(store.pool, 'left', { cases: 4, budgets: { maxRunUsd: 100 } });
  await begin(attemptKey('left', 1));
  await begin(attemptKey('left', 2));
  await completeCall(store.pool, {
    key: callKey(attemptKey('left', 2)),
    requestNumber: 1,
    message: { role: 'assistant', text: 'late', reasoning: null, toolCalls: [] },
    sequence: 2,
    finishReason: 'stop',
    usage: {
      inputTokens: 1,
      outputTokens: 1,
      reasoningTokens: null,
      cacheReadTokens: null,
      cacheWriteTokens: null,
    },
    costUsd: 0.1,
    latencyMs: 1,
    notes: [],
  });
  await record(attemptKey('left', 4), passed);
  await freezeRun(store.pool, { runId: 'left', state: 'cancelled', reason: 'asked' });
  const settle = () => settleUnrecorded(store.pool, { runId: 'left', generation: 1, reason });
  expect(await settle()).toEqual({ interrupted: 2, notRun: 1 });
  expect(await settle()).toEqual({ interrupted: 0, notRun: 0 });
  expect(await finish('left')).toMatchObject({ state: 'cancelled', planned: 4, recorded: 4, missing: [] });
  const { rows } = await store.pool.query(`select * from reservations where run_id = 'left'`);
  expect(rows).toMatchObject([{ open_calls: 0, reserved_usd: 0, spent_usd: 0.6 }]);
});

test('FE-13 a result after the run was settled is a late try and changes nothing', async () => {
  const late = await record(attemptKey('left', 1), passed);
  expect(late).toEqual({ recorded: false, outcome: { kind: 'interrupted', reason, limit: null } });
  await record(attemptKey('left', 3), passed, 2);
  expect(await finish('left')).toMatchObject({ state: 'cancelled' });
  const [detail] = await loadAttemptDetail(store.pool, { runId: 'left', caseId: 'case-1' });
  expect(detail).toMatchObject({
    outcome: { kind: 'interrupted' },
    tries: [{ tryNumber: 1, late: true }],
    scores: [],
  });
});

test('C6 resume runs exactly the named and the missing cells as a new generation, once a token', async () => {
  const resume = {
    runId: 'left',
    token: 'resume-1',
    outcomes: ['not_run', 'interrupted', 'infra', 'skipped'],
    budgets: { maxRunUsd: 200 },
  } as const;
  expect(await planGeneration(store.pool, resume)).toEqual({ generation: 2, cells: 3 });
  expect(await planGeneration(store.pool, resume)).toEqual({ generation: 2, cells: 3 });
  const tasks = await listTaskRefs(store.pool, { runId: 'left', generation: 2, afterTask: 0, limit: 10 });
  expect(tasks.map(({ task }) => task)).toEqual([1, 2, 3]);
  expect(await loadRun(store.pool, 'left')).toMatchObject({
    state: 'running',
    frozenState: null,
    generation: 2,
  });
  await expect(planGeneration(store.pool, { ...resume, token: 'resume-2' })).rejects.toThrow('has not ended');
  for (const task of [1, 2, 3]) await record(attemptKey('left', task, [1, 2]), passed);
  expect(await finish('left')).toMatchObject({ state: 'running' });
  expect(await finish('left', 2)).toMatchObject({ state: 'completed', planned: 4, recorded: 4 });
  expect(await planGeneration(store.pool, { ...resume, token: 'resume-3' })).toEqual({
    generation: 2,
    cells: 0,
  });
});

test('a run that failed with missing cells runs those again', async () => {
  expect(await planGeneration(store.pool, { runId: 'missing', token: 'again', outcomes: [] })).toEqual({
    generation: 2,
    cells: 26,
  });
  expect(await record(attemptKey('missing', 5), passed)).toMatchObject({ recorded: false });
});

test('retrying an early attempt under pass brings back the later ones', async () => {
  const answer = await planGeneration(store.pool, { runId: 'pass', token: 'retry', outcomes: ['scored'] });
  expect(answer).toEqual({ generation: 2, cells: 3 });
  await record(attemptKey('pass', 1, [1, 2]), passed);
  expect(await finish('pass', 2)).toMatchObject({ state: 'completed', planned: 1, recorded: 1 });
});

test('retrying a failed attempt beside a pass that stays brings back nothing', async () => {
  await prepareRun(store.pool, 'solved', { cases: 1, k: 3, strategy: 'pass' });
  await record(attemptKey('solved', 1, [1, 1]), failed);
  await record(attemptKey('solved', 1, [2, 1]), passed);
  await finish('solved');
  const answer = await planGeneration(store.pool, { runId: 'solved', token: 'retry', outcomes: ['error'] });
  expect(answer).toEqual({ generation: 2, cells: 1 });
});

test('cells of a skipped model have their outcome at once and are not listed to run', async () => {
  await prepareRun(store.pool, 'skipped', { models: ['fast', 'keyless'], k: 2, skipped: ['keyless'] });
  const tasks = await listTaskRefs(store.pool, { runId: 'skipped', generation: 1, afterTask: 0, limit: 10 });
  expect(tasks.map(({ modelId }) => modelId)).toEqual(['fast', 'fast']);
  const [detail] = await loadAttemptDetail(store.pool, {
    runId: 'skipped',
    caseId: 'case-1',
    modelId: 'keyless',
  });
  expect(detail?.outcome).toMatchObject({ kind: 'skipped', reason: { message: 'keyless has no key' } });
});

test('cells of a request that failed in preparation are not_run', async () => {
  await prepareRun(store.pool, 'unprepared', { failure: 'no such image' });
  expect(await finish('unprepared')).toMatchObject({ state: 'failed', planned: 2, recorded: 2 });
});
