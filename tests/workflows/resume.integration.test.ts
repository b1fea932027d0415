import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import { RunHandle } from '../../src/client/run-handle.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { reapRuns } from '../../src/worker/reap-runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, readQuestion, sendJson, startModelServer } from './model-server.ts';
import {
  begin,
  cancelAndWait,
  countOutcomes,
  loadCalls,
  loadCells,
  loadState,
  startPlain,
  sums,
  waitFor,
  waitForCalls,
  workflowOf,
} from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({
    options: { maxHeartbeatThrottleInterval: 500, defaultHeartbeatThrottleInterval: 500 },
  });
});
afterAll(() => assay.close());

const MODEL = { id: 'one', provider: 'local', model: 'm', price: { input: 1, output: 2 } };

async function resume(runId: string, budgets: { maxRunUsd?: number } = {}): Promise<void> {
  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error('the run is gone');
  await resumeRun(assay.connection, { run, budgets });
}

test('AA-11 C5 AC-P7 resumed after a cancel: only what is missing runs, as generation 2; usage sums over all', async () => {
  let held = true;
  await using server = await startModelServer(async (response, seen) => {
    const question = readQuestion(seen);
    if (question.includes(' 2 ')) return sendJson(response, { error: { message: 'not allowed' } }, 400);
    while (held && question.includes(' 5 ')) await sleep(20);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 1 } })],
    models: [MODEL],
    suite: sums(10),
    execution: { taskConcurrency: 1 },
  });
  await waitForCalls(assay, runId, { completed: 4, failed: 1, started: 1 });
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 4, error: 1, interrupted: 1, not_run: 4 });
  const first = await loadCells(assay, runId);
  held = false;
  await resume(runId);
  const result = await assay.result(runId);
  expect(result).toMatchObject({
    state: 'completed',
    planned: 10,
    recorded: 10,
    outcomes: { scored: 9, error: 1 },
  });
  expect(await countOutcomes(assay, runId, 2)).toEqual({ scored: 5 });
  expect(await loadCells(assay, runId, 1)).toEqual(first);
  expect((await loadCells(assay, runId, 2)).map((one) => one.case_id)).toEqual([
    'sum-6',
    'sum-7',
    'sum-8',
    'sum-9',
    'sum-10',
  ]);
  expect(server.calls()).toHaveLength(11);
  const { run, cells } = await loadReportRows(assay.db, runId);
  expect(run.generation).toBe(2);
  expect(cells.reduce((sum, one) => sum + (one.usage.inputTokens ?? 0), 0)).toBe(900);
});

test('resumed after the deadline the run has its whole time again', async () => {
  let slow = true;
  await using server = await startModelServer(async (response, seen) => {
    if (slow) await sleep(4_000);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 1 } })],
    models: [MODEL],
    suite: sums(4),
    execution: { timeout: '6s' },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'timed_out' });
  const before = (await countOutcomes(assay, runId))['scored'] ?? 0;
  slow = false;
  await resume(runId);
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
  expect(await countOutcomes(assay, runId, 2)).toEqual({ scored: 4 - before });
});

test('resumed after a budget stop with a larger one the run goes on and counts what was spent before', async () => {
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 2 } })],
    models: [{ ...MODEL, params: { maxOutputTokens: 60 } }],
    suite: sums(12),
    budgets: { maxRunUsd: 0.001 },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'stopped_budget' });
  const sent = server.calls().length;
  await resume(runId, { maxRunUsd: 0.0018 });
  expect(await assay.result(runId)).toMatchObject({ state: 'stopped_budget' });
  expect(server.calls().length).toBeGreaterThan(sent);
  expect(server.calls().length).toBeLessThanOrEqual(9);
  await resume(runId, { maxRunUsd: 1 });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 12 } });
  expect(server.calls()).toHaveLength(12);
  expect((await loadReportRows(assay.db, runId)).run.generation).toBe(3);
});

test('AC-K4 infra cells of an endpoint that was down run again on resume; under pass later attempts come back', async () => {
  let down = true;
  await using server = await startModelServer((response, seen) =>
    down ? sendJson(response, { error: { message: 'boom' } }, 500) : sendJson(response, answerSum(seen)),
  );
  const runId = await begin(assay, {
    providers: [server.provider({ retry: { max: 0 } })],
    models: [MODEL],
    // Five in a row would open the breaker.
    suite: sums(2),
    attempts: { k: 2, strategy: 'pass' },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { infra: 4 } });
  down = false;
  await resume(runId);
  expect(await assay.result(runId)).toMatchObject({
    state: 'completed',
    planned: 2,
    outcomes: { scored: 2 },
  });
  expect(server.calls()).toHaveLength(6);
});

test('C6 a retry runs exactly the cells that are named, again and again; the others keep their rows', async () => {
  let sick = true;
  await using server = await startModelServer((response, seen) => {
    const question = readQuestion(seen);
    if (sick && question.includes(' 1 ')) return sendJson(response, { error: { message: 'no' } }, 400);
    if (sick && question.includes(' 2 ')) return sendJson(response, { error: { message: 'boom' } }, 500);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ retry: { max: 0 } })],
    models: [MODEL],
    suite: sums(6),
  });
  await assay.result(runId);
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 4, error: 1, infra: 1 });
  const handle = new RunHandle(assay.connection, runId);
  await expect(handle.retry({ only: ['refused'] })).rejects.toThrow('has no cell that is refused');
  const before = await loadCells(assay, runId, 1);
  sick = false;
  expect(await handle.retry({ only: ['error'] })).toMatchObject({ cells: 1, generation: 2 });
  expect(await handle.result()).toMatchObject({ state: 'completed', outcomes: { scored: 5, infra: 1 } });
  expect(server.calls()).toHaveLength(7);
  expect(await handle.retry()).toMatchObject({ cells: 1, generation: 3 });
  expect(await handle.result()).toMatchObject({ outcomes: { scored: 6 } });
  expect(server.calls()).toHaveLength(8);
  expect(await loadCells(assay, runId, 1)).toEqual(before);
});

test('AA-11 an unknown run cannot be resumed, and a finished one makes no call', async () => {
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  await startPlain(assay, 'nowhere', { runId: 'nowhere', resume: { outcomes: ['not_run'] } });
  await expect(assay.result('nowhere')).rejects.toThrow('failed');
  expect(await loadState(assay, 'nowhere')).toMatchObject({ state: 'not there' });
  const runId = await begin(assay, { providers: [server.provider()], models: [MODEL], suite: sums(2) });
  await assay.result(runId);
  await expect(resume(runId)).rejects.toThrow('Nothing is left to run');
  await startPlain(assay, runId, { runId, resume: { outcomes: ['not_run', 'interrupted'] } });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
  expect(await loadCalls(assay, runId)).toHaveLength(2);
});

test('a run whose workflow was terminated is settled by a worker, and resumes', async () => {
  let held = true;
  let arrived = 0;
  await using server = await startModelServer(async (response, seen) => {
    arrived += 1;
    // Not the first one, which is the probe that the others wait for.
    const isLast = arrived === 3;
    while (held && isLast) await sleep(50);
    sendJson(response, answerSum(seen));
  });
  const providers = [server.provider({ limits: { concurrency: 3 } })];
  const runId = await begin(assay, { providers, models: [MODEL], suite: sums(3) });
  await waitForCalls(assay, runId, { completed: 2, started: 1 });
  await waitFor('two results', async () => (await countOutcomes(assay, runId))['scored'] === 2);
  const reaping = { client: assay.client, dependencies: assay, logger: pino({ level: 'silent' }) };
  await reapRuns(reaping);
  expect(await loadState(assay, runId)).toMatchObject({ state: 'running' });
  await workflowOf(assay, runId).terminate('a test');
  await reapRuns(reaping);
  expect(await loadRun(assay.db, runId)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('was ended from outside'),
  });
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 2, interrupted: 1 });
  held = false;
  await resume(runId);
  await assay.result(runId);
  expect(await loadState(assay, runId)).toMatchObject({ state: 'completed' });
});

test('AC-K3 a run that was ended in the third of five attempts goes on with the third', async () => {
  let arrived = 0;
  await using server = await startModelServer(async (response, seen) => {
    arrived += 1;
    const isCut = arrived === 3;
    while (isCut && !response.closed) await sleep(50);
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [MODEL],
    suite: sums(1),
    attempts: { k: 5 },
    execution: { taskConcurrency: 1 },
  });
  await waitFor('two results', async () => (await countOutcomes(assay, runId))['scored'] === 2);
  await waitFor('the third call', async () => arrived === 3);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 2, interrupted: 1, not_run: 2 });
  const before = await loadCells(assay, runId, 1);
  await resume(runId);
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 5 } });
  expect((await loadCells(assay, runId, 2)).map((one) => one.attempt)).toEqual([3, 4, 5]);
  expect(await loadCells(assay, runId, 1)).toEqual(before);
  expect(arrived).toBe(6);
});
