import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endProcess } from '../../src/local/process-identity.ts';
import { startTemporal, type RunningTemporal } from '../../src/local/temporal-server.ts';
import { localSettings } from '../../src/local/temporal-settings.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import {
  bash,
  begin,
  cancelAndWait,
  countOutcomes,
  loadCalls,
  loadCells,
  oracle,
  script,
  sums,
  waitFor,
  waitForCalls,
} from './support.ts';

let assay: TestAssay;
let server: RunningTemporal;
const dataDir = mkdtempSync(join(tmpdir(), 'assay-test-'));

/** This server suggests to continue as new after few events. */
beforeAll(async () => {
  const dynamicConfig = { ...localSettings.dynamicConfig, 'limit.historyCount.suggestContinueAsNew': '30' };
  server = await startTemporal({
    dataDir,
    ports: null,
    environment: process.env,
    note: () => undefined,
    settings: { ...localSettings, dynamicConfig },
  });
  assay = await createTestAssay({ temporalAddress: server.temporalAddress });
});
afterAll(async () => {
  await assay.close();
  await endProcess(server.process, { signal: 'SIGTERM', graceMs: 10_000 });
  rmSync(dataDir, { recursive: true, force: true });
});

/** Executions that one workflow id has had. */
async function countExecutions(workflowId: string): Promise<number> {
  let count = 0;
  for await (const _ of assay.client.workflow.list({ query: `WorkflowId = '${workflowId}'` })) count += 1;
  return count;
}

test('a run of 300 cells drains and continues as new several times, and records each cell once', async () => {
  const runId = await begin(assay, {
    models: [oracle()],
    suite: sums(300),
    execution: { taskConcurrency: 12 },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', planned: 300, recorded: 300 });
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 300 });
  expect(await loadCalls(assay, runId)).toHaveLength(300);
  await waitFor('the list of executions', async () => (await countExecutions(`run/${runId}`)) >= 3);
});

test('one task workflow for each cell: the run still continues as new and loses none', async () => {
  const runId = await begin(assay, {
    models: [oracle()],
    suite: sums(24),
    execution: { taskConcurrency: 4, packing: 'off' },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', recorded: 24 });
  await waitFor('the list of executions', async () => (await countExecutions(`run/${runId}`)) >= 3);
});

test('a run that has continued as new is cancelled as a whole, and its deadline is carried over', async () => {
  const faults = [{ case: 'sum-16', fault: { kind: 'hang' } }];
  const model = oracle('right', { faults });
  const execution = { taskConcurrency: 4, packing: 'off' };
  const cancelled = await begin(assay, { models: [model], suite: sums(16), execution });
  const timed = await begin(assay, {
    models: [model],
    suite: sums(16),
    execution: { ...execution, timeout: '9s' },
  });
  await waitForCalls(assay, cancelled, { completed: 15, started: 1 });
  expect(await cancelAndWait(assay, cancelled)).toBe('CANCELLED');
  expect(await countOutcomes(assay, cancelled)).toEqual({ scored: 15, interrupted: 1 });
  expect(await assay.result(timed)).toMatchObject({ state: 'timed_out' });
  const { rows } = await assay.db.query(
    'select extract(epoch from finished_at - started_at)::float8 as seconds from runs where run_id = $1',
    [timed],
  );
  expect(rows[0].seconds).toBeGreaterThan(8.5);
  expect(rows[0].seconds).toBeLessThan(20);
});

test('an attempt continues as new between two steps with its session open, and repeats nothing', async () => {
  const steps = Array.from({ length: 14 }, (_, index) => bash(`echo ${index + 1} >> log.txt`));
  const suite = { ...sums(1), scorers: [{ kind: 'command', command: 'test "$(wc -l < log.txt)" -eq 14' }] };
  const runId = await begin(assay, {
    models: [script([...steps, { say: 'done' }])],
    suite,
    harness: { kind: 'agent', maxSteps: 30 },
    environment: 'host',
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'scored', score: 1, try_number: 1 }]);
  expect(await loadCalls(assay, runId)).toHaveLength(15);
  expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
  const { rows } = await assay.db.query('select executions from tool_calls where run_id = $1', [runId]);
  expect(rows).toEqual(Array(14).fill({ executions: 1 }));
  const id = `run/${runId}/sums/agent/sum-1/a1`;
  await waitFor('the list of executions', async () => (await countExecutions(id)) >= 3);
});

const send = (runId: string, name: string, input: object = {}) =>
  assay.client.workflow.getHandle(`run/${runId}`).executeUpdate(name, { args: [input] });

const describe = (runId: string) => assay.client.workflow.getHandle(`run/${runId}`).describe();

test('limits that are set while a run drains and continues as new are all kept, each once', async () => {
  const runId = await begin(assay, {
    models: [oracle('right', { latencyMs: 100 })],
    suite: sums(24),
    execution: { taskConcurrency: 4, packing: 'off' },
  });
  await waitForCalls(assay, runId, { completed: 1 });
  let ended = false;
  const result = assay.result(runId).finally(() => (ended = true));
  let sent = 0;
  for (; !ended; sent += 1) {
    const taskConcurrency = 3 + (sent % 3);
    const answer = await send(runId, 'set', { taskConcurrency }).catch((error: unknown) => String(error));
    if (typeof answer === 'string') break;
  }
  expect(await result).toMatchObject({ state: 'completed', recorded: 24, outcomes: { scored: 24 } });
  const { rows } = await assay.db.query(
    'select old_value, new_value from limit_changes where run_id = $1 order by id',
    [runId],
  );
  expect(rows).toHaveLength(sent);
  const chain = rows.map((row) => Number(row.old_value));
  expect(chain).toEqual([4, ...rows.slice(0, -1).map((row) => Number(row.new_value))]);
  await waitFor('the list of executions', async () => (await countExecutions(`run/${runId}`)) >= 3);
});

test('a pause is carried over when the run continues as new, and so is its time', async () => {
  const runId = await begin(assay, {
    models: [oracle('right', { latencyMs: 400 })],
    suite: sums(40),
    execution: { taskConcurrency: 4, packing: 'off', timeout: '10m' },
  });
  await waitForCalls(assay, runId, { completed: 1 });
  let continued = false;
  while (!continued) {
    const before = (await describe(runId)).runId;
    await send(runId, 'pause');
    await waitFor('what runs to end', async () =>
      (await loadCalls(assay, runId)).every(({ state }) => state !== 'started'),
    );
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    continued = (await describe(runId)).runId !== before;
    if (!continued) await send(runId, 'unpause');
    if (!continued) await new Promise((resolve) => setTimeout(resolve, 150));
  }
  const calls = (await loadCalls(assay, runId)).length;
  expect(calls).toBeLessThan(40);
  const handle = assay.client.workflow.getHandle(`run/${runId}`);
  expect(await handle.query('progress')).toMatchObject({ state: 'paused', openWorkflows: 0 });
  expect((await loadCalls(assay, runId)).length).toBe(calls);
  expect(await send(runId, 'unpause')).toMatchObject({ changed: true });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 40 } });
});
