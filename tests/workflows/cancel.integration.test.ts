import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { loadProgress } from '../../src/store/progress.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import {
  bash,
  begin,
  cancelAndWait,
  countOutcomes,
  listOpenWorkflows,
  loadCalls,
  loadState,
  oracle,
  script,
  startPlain,
  sums,
  waitFor,
  waitForCalls,
  workflowOf,
} from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  // A cancellation is told with a heartbeat.
  assay = await createTestAssay({
    options: { maxHeartbeatThrottleInterval: 500, defaultHeartbeatThrottleInterval: 500 },
  });
});
afterAll(() => assay.close());

/** Nothing of a cancelled run is left: no workflow, no session, no folder, no process. */
afterEach(async () => {
  const { rows } = await assay.db.query('select run_id from runs');
  for (const { run_id: runId } of rows) {
    await waitFor('children to close', async () => (await listOpenWorkflows(assay, runId)).length === 0);
  }
  const open = await assay.db.query(`select session_id from environment_sessions where state <> 'closed'`);
  const folders = await readdir(join(assay.dataDir, 'sessions')).catch(() => []);
  const left = [...open.rows, ...folders.filter((name) => !name.startsWith('.')), ...listSleepers()];
  if (left.length > 0) throw new Error(`a cancelled run left ${JSON.stringify(left)}`);
});

/** The sleeps that these tests start have seconds of their own. */
const listSleepers = (): string[] =>
  execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /sleep 4[12]7\.\d/.test(line) && !line.includes('ps -eo'));

const slow = { id: 'slow', kind: 'mock', baseUrl: 'http://slow.invalid', limits: { concurrency: 1 } };
const hanging = { id: 'slow', provider: 'slow', model: 'oracle', params: { latencyMs: 60_000 } };

const agentRequest = { harness: { kind: 'agent', maxSteps: 5 }, environment: 'host' };

test('AA-09 a run that is cancelled before anything was prepared ends as Canceled without a call', async () => {
  const runId = createTestRunId();
  await startPlain(assay, runId, { runId, document: { models: [oracle()], suite: sums(2) } });
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect((await loadCalls(assay, runId)).length).toBe(0);
});

test('AA-09 AC-R16 cancelled while calls wait for a slot: each cell has a row, none is left open', async () => {
  const runId = await begin(assay, { providers: [slow], models: [hanging], suite: sums(5) });
  await waitForCalls(assay, runId, { started: 1 });
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1, not_run: 4 });
  expect(await loadState(assay, runId)).toMatchObject({ state: 'cancelled' });
  expect((await loadCalls(assay, runId)).map((one) => [one.state, one.estimated])).toEqual([['lost', true]]);
  // A model that costs nothing cost nothing, although nobody knows what became of its call.
  const { cells } = await loadReportRows(assay.db, runId);
  expect(cells.map((cell) => [cell.costUsd, cell.priced])).toContainEqual([0, true]);
  expect(cells.every((cell) => cell.priced)).toBe(true);
  expect((await loadProgress(assay.db, runId))?.rows[0]?.costUsd).toBe(0);
});

test('the cost of a cut-off call of a priced model stays unknown, also where nothing bounds its answer', async () => {
  const price = { input: 0, output: 2 };
  const runId = await begin(assay, { providers: [slow], models: [{ ...hanging, price }], suite: sums(1) });
  await waitForCalls(assay, runId, { started: 1 });
  await cancelAndWait(assay, runId);
  const { cells } = await loadReportRows(assay.db, runId);
  expect(cells.map((cell) => [cell.costUsd, cell.priced])).toEqual([[null, false]]);
  expect((await loadProgress(assay.db, runId))?.rows[0]?.costUsd).toBeNull();
});

test.each(['auto', 'off'])(
  'AA-09 FE-13 cancelled in model calls with packing %s: what was scored stays',
  async (packing) => {
    const faults = [{ case: 'sum-3', fault: { kind: 'hang' } }];
    const runId = await begin(assay, {
      models: [oracle('right', { faults })],
      suite: sums(12),
      execution: { taskConcurrency: 2, packing },
    });
    await waitForCalls(assay, runId, { completed: 11 });
    const sentBefore = (await loadCalls(assay, runId)).length;
    expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
    expect(await countOutcomes(assay, runId)).toEqual({ scored: 11, interrupted: 1 });
    expect((await loadCalls(assay, runId)).length).toBe(sentBefore);
  },
);

test('AA-09 AC-R16 cancelled while a call waits for its next request: the wait ends at once', async () => {
  const faults = [{ fault: { status: 503, retryAfterMs: 50_000 } }];
  const runId = await begin(assay, { models: [oracle('right', { faults })], suite: sums(2) });
  await waitForCalls(assay, runId, { failed: 2 });
  const asked = Date.now();
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(Date.now() - asked).toBeLessThan(15_000);
  expect(await countOutcomes(assay, runId)).toEqual({ not_run: 2 });
});

test('AA-09 cancelled in a tool: its processes end, the session closes, the attempt is interrupted', async () => {
  const runId = await begin(assay, {
    models: [script([bash('sleep 417.1 & sleep 417.2')])],
    suite: sums(2),
    ...agentRequest,
  });
  await waitFor('the tools', async () => listSleepers().length >= 4);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 2 });
  expect((await readSessions(assay, runId)).map((one) => one.state)).toEqual(['closed', 'closed']);
});

test('AA-09 AC-R11 cancelled while grading: the grader ends and nothing is scored', async () => {
  const suite = { ...sums(1), scorers: [{ kind: 'command', command: 'sleep 427.1 & sleep 427.2' }] };
  const runId = await begin(assay, {
    models: [script([{ say: 'done' }])],
    suite,
    ...agentRequest,
    retries: { max: 2 },
  });
  await waitFor('the grader', async () => listSleepers().length >= 2);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1 });
});

test('AA-09 cancelled twice, the second time during the cleanup: cleanup still completes', async () => {
  const runId = await begin(assay, {
    models: [script([bash('trap "" TERM; sleep 417.3; sleep 417.4')])],
    suite: sums(1),
    ...agentRequest,
  });
  await waitFor('the tool', async () => listSleepers().length >= 1);
  const handle = workflowOf(assay, runId);
  await handle.cancel();
  await waitFor('the frozen state', async () => (await loadState(assay, runId)).state !== 'running');
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1 });
});

test('AC-L6 after the grace the run is final although cleanup goes on, and cleanup completes', async () => {
  const runId = await begin(assay, {
    models: [script([bash('trap "" TERM; sleep 417.5; sleep 417.6')])],
    suite: sums(1),
    execution: { cleanupGrace: '1ms' },
    ...agentRequest,
  });
  await waitFor('the tool', async () => listSleepers().length >= 1);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await loadState(assay, runId)).toMatchObject({ state: 'cancelled' });
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1 });
});
