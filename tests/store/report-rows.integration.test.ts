import { afterAll, beforeAll, expect, test } from 'vitest';
import { beginCall, completeCall, failCall } from '../../src/store/model-calls.ts';
import { loadCases, loadPlan, planGeneration } from '../../src/store/plans.ts';
import { loadProgress } from '../../src/store/progress.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { finishRun, freezeRun, insertRun, listRuns, setRunState } from '../../src/store/runs.ts';
import { savePreparedRun } from '../../src/store/prepared-run.ts';
import {
  ENGINE,
  attemptKey,
  buildPreparedRun,
  callKey,
  openTestStore,
  prepareRun,
  recordOne,
} from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const call = async (runId: string, task: number, generation: number) => {
  const key = callKey(attemptKey(runId, task, [1, generation]));
  const request = { key, modelId: 'fast', engineId: ENGINE, worstTokens: 9, worstUsd: 1, maxRetries: 2 };
  const send = async () => {
    const answer = await beginCall(store.pool, request);
    return answer.kind === 'granted' ? answer.requestNumber : 0;
  };
  const usage = {
    inputTokens: 2,
    outputTokens: 3,
    reasoningTokens: 1,
    cacheReadTokens: null,
    cacheWriteTokens: null,
  };
  await failCall(store.pool, {
    key,
    requestNumber: await send(),
    class: 'server',
    message: 'stopped half-way',
    spend: { kind: 'known', usage, costUsd: 0.25 },
    retryInMs: 0,
    latencyMs: 5,
  });
  await completeCall(store.pool, {
    key,
    requestNumber: await send(),
    message: { role: 'assistant', text: 'Paris', reasoning: null, toolCalls: [] },
    sequence: 2,
    finishReason: 'stop',
    usage,
    costUsd: 0.5,
    latencyMs: 40,
    notes: [],
  });
};

const verdict = { kind: 'unscored', code: 'regex_time', explanation: 'took \0 too long' } as const;

test('the plan, its cases and its targets come back; a case never holds its target', async () => {
  const prepared = await prepareRun(store.pool, 'plan');
  expect(await loadPlan(store.pool, 'plan')).toEqual(prepared.plan);
  const ref = { runId: 'plan', requestIndex: 0 };
  const cases = await loadCases(store.pool, { ...ref, caseIds: ['case-2', 'case-1'] });
  const stored = cases.get('case-2');
  expect([...cases.keys()].toSorted()).toEqual(['case-1', 'case-2']);
  expect(JSON.stringify(stored?.testCase)).not.toContain('secret');
  expect(stored?.target).toEqual({ values: ['secret of case-2'] });
  const unknown = loadCases(store.pool, { ...ref, caseIds: ['case-9'] });
  await expect(unknown).rejects.toThrow('has no case case-9');
  await expect(loadPlan(store.pool, 'unknown')).rejects.toThrow('has no plan');
});

test('FE-12 saving a prepared run again changes nothing', async () => {
  expect(await savePreparedRun(store.pool, buildPreparedRun('plan', { cases: 9 }))).toBe('existing');
  expect((await loadReportRows(store.pool, 'plan')).cells).toHaveLength(2);
});

test('the same run id attaches to the run that is there; runs are listed newest first', async () => {
  const run = { runId: 'plan', name: 'other', documentDigest: null, workflowId: 'run/plan' };
  expect(await insertRun(store.pool, run)).toBe('existing');
  expect((await listRuns(store.pool)).map(({ runId, name }) => [runId, name])).toEqual([['plan', 'plan']]);
});

test('a state change is told on the channel', async () => {
  const client = await store.pool.connect();
  const told = new Promise((resolve) => client.once('notification', resolve));
  await client.query('listen assay_run');
  expect(await setRunState(store.pool, { runId: 'plan', state: 'running' })).toBe(true);
  expect(await told).toMatchObject({ channel: 'assay_run', payload: 'plan' });
  expect(await setRunState(store.pool, { runId: 'plan', state: 'running' })).toBe(false);
  await client.query('unlisten *');
  client.release();
});

test('C5 usage sums over retries and generations, and says what of it was wasted', async () => {
  await prepareRun(store.pool, 'sums');
  await call('sums', 1, 1);
  const outcome = {
    kind: 'error',
    reason: { code: 'x', phase: 'run', message: 'broke' },
    limit: null,
  } as const;
  for (const task of [1, 2]) {
    await recordOne(store.pool, {
      key: attemptKey('sums', task),
      tryNumber: 1,
      outcome,
      scores: [],
      answerDigest: null,
      answerPreview: null,
    });
  }
  await finishRun(store.pool, { runId: 'sums', generation: 1 });
  await planGeneration(store.pool, { runId: 'sums', token: 't', outcomes: ['error'] });
  await call('sums', 1, 2);
  await recordOne(store.pool, {
    key: attemptKey('sums', 1, [1, 2]),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 1, pass: true, limit: null },
    scores: [{ scorer: 'regex', kind: 'regex', weight: 2, required: false, verdict }],
    answerDigest: null,
    answerPreview: 'Pa\0ris'.padEnd(300, '.'),
  });
  const { cells, run, models } = await loadReportRows(store.pool, 'sums');
  expect(run).toMatchObject({ generation: 2, state: 'running', caps: { maxRunUsd: null }, warnings: [] });
  expect(models).toMatchObject([{ modelId: 'fast', skippedReason: null }]);
  expect(cells[0]).toMatchObject({
    generation: 2,
    outcome: { kind: 'scored', score: 1 },
    scores: [{ scorer: 'regex', weight: 2, verdict }],
    usage: { inputTokens: 8, outputTokens: 12, reasoningTokens: 4, cacheReadTokens: null },
    wastedUsage: { inputTokens: 6, outputTokens: 9, reasoningTokens: 3 },
    costUsd: 1.5,
    priced: true,
    latencyMs: 40,
    calls: 2,
    retriedCalls: 2,
    tags: ['tag'],
  });
  expect(cells[0]?.answerPreview).toHaveLength(200);
  expect(cells[1]).toMatchObject({
    generation: 2,
    outcome: null,
    costUsd: null,
    latencyMs: null,
    waitMs: null,
    calls: 0,
  });
});

test('progress counts done, passes, errors and cost by request and model', async () => {
  const progress = await loadProgress(store.pool, 'sums');
  expect(progress?.rows).toEqual([
    {
      requestIndex: 0,
      requestName: 'main',
      modelId: 'fast',
      planned: 2,
      done: 1,
      scored: 1,
      pass: 1,
      meanScore: 1,
      errors: 0,
      unscored: 0,
      notRun: 0,
      skipped: 0,
      costUsd: 1.5,
      inFlight: 0,
      waiting: 0,
    },
  ]);
  expect(await loadProgress(store.pool, 'unknown')).toBeNull();
});

test('a stopped run tells its reason', async () => {
  await freezeRun(store.pool, { runId: 'plan', state: 'cancelled', reason: 'Asked by Ada.' });
  expect((await loadReportRows(store.pool, 'plan')).run.reason).toBe('Asked by Ada.');
});

test('a model that was skipped at first and has run since is not skipped any more: its gates hold', async () => {
  await prepareRun(store.pool, 'mended', { cases: 1, models: ['keyless'], skipped: ['keyless'] });
  const load = async () => (await loadReportRows(store.pool, 'mended')).models;
  expect(await load()).toMatchObject([{ skippedReason: 'keyless has no key' }]);
  await finishRun(store.pool, { runId: 'mended', generation: 1 });
  await planGeneration(store.pool, { runId: 'mended', token: 't', outcomes: ['skipped'] });
  await recordOne(store.pool, {
    key: attemptKey('mended', 1, [1, 2]),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 0, pass: false, limit: null },
    scores: [],
    answerDigest: null,
    answerPreview: null,
  });
  expect(await load()).toMatchObject([{ skippedReason: null }]);
});
