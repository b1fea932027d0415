import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelRun, resumeRun } from '../../src/client/control-run.ts';
import { findRun } from '../../src/client/find-run.ts';
import { listRuns } from '../../src/client/list-runs.ts';
import type { RunProgress } from '../../src/client/progress.ts';
import { loadReport } from '../../src/client/report.ts';
import { startRun } from '../../src/client/start-run.ts';
import { watchRun } from '../../src/client/watch-run.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { RUN_WORKFLOW, WORKFLOW_QUEUE } from '../../src/workflows/messages.ts';
import { createTestAssay, createTestRunId, load, type TestAssay } from '../support/assay.ts';
import { startPlain } from '../workflows/support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
});

const document = (latencyMs: number, cases = 6) => ({
  name: 'client test',
  models: [{ id: 'right', provider: 'mock', model: 'oracle', params: { latencyMs } }],
  suite: {
    name: 'sums',
    scorers: ['exact'],
    cases: Array.from({ length: cases }, (_, index) => ({
      id: `sum-${index + 1}`,
      input: 'x',
      target: String(index),
    })),
  },
  execution: { taskConcurrency: 2, seed: 1 },
});

type Watch = { readonly seen: readonly RunProgress[]; readonly troubles: readonly (string | null)[] };

async function watch(
  runId: string,
  { generation = 1, onEach = async () => undefined as unknown } = {},
): Promise<Watch> {
  const seen: RunProgress[] = [];
  const troubles: (string | null)[] = [];
  const options = {
    signal: AbortSignal.timeout(60_000),
    pollMs: 50,
    onTrouble: (message: string | null) => void troubles.push(message),
  };
  for await (const progress of watchRun(assay.connection, { runId, generation }, options)) {
    seen.push(progress);
    await onEach();
  }
  return { seen, troubles };
}

test('a started run is watched to its end, found by its start, listed and reported', async () => {
  const loaded = await load(document(20));
  const { runId, workflowId, attached } = await startRun(assay.connection, {
    loaded,
    runId: null,
    approved: false,
  });
  expect(runId).toMatch(/^client-test-\d{8}-[a-z0-9]{4}$/);
  expect({ workflowId, attached }).toEqual({ workflowId: `run/${runId}`, attached: false });
  const { seen } = await watch(runId);
  expect(seen.at(-1)).toMatchObject({
    state: 'completed',
    rows: [{ planned: 6, done: 6, pass: 6, modelId: 'right' }],
  });
  expect(await findRun(assay.db, runId.slice(0, -1))).toMatchObject({ runId });
  await expect(findRun(assay.db, `${runId.slice(0, -4)}0000`)).rejects.toThrow(runId);
  const listed = await listRuns(assay.connection, { limit: 50, openOnly: false });
  expect(listed).toContainEqual(
    expect.objectContaining({ runId, state: 'completed', outcomes: { scored: 6 } }),
  );
  expect(await loadReport(assay.connection, runId)).toMatchObject({ run: { runId, planned: 6, scored: 6 } });
});

test('the same run id attaches to its run, open or ended, and starts nothing', async () => {
  const loaded = await load(document(200));
  const start = { loaded, runId: createTestRunId(), approved: false };
  const starts = await Promise.all([1, 2, 3].map(() => startRun(assay.connection, start)));
  expect(new Set(starts.map(({ workflowId }) => workflowId)).size).toBe(1);
  await watch(start.runId);
  expect(await startRun(assay.connection, start)).toMatchObject({ attached: true });
  expect(await findRun(assay.db, start.runId)).toMatchObject({ state: 'completed', generation: 1 });
});

test('a cancelled run is resumed under its own id and watched to the end of its new generation', async () => {
  const runId = await assay.start(document(300, 12));
  let asked = false;
  const cancelled = await watch(runId, {
    onEach: async () => {
      const run = await findRun(assay.db, runId);
      if (asked || run.state !== 'running') return;
      asked = true;
      await expect(resumeRun(assay.connection, { run, budgets: {} })).rejects.toThrow('nothing to resume');
      expect(await cancelRun(assay.connection, runId)).toEqual({ kind: 'requested' });
      expect(await cancelRun(assay.connection, runId)).toMatchObject({
        kind: expect.stringMatching('requested|ended'),
      });
    },
  });
  expect(cancelled.seen.at(-1)?.state).toBe('cancelled');
  expect(await cancelRun(assay.connection, runId)).toEqual({ kind: 'ended', state: 'cancelled' });
  const resumed = await resumeRun(assay.connection, { run: await findRun(assay.db, runId), budgets: {} });
  expect(resumed).toMatchObject({ runId, generation: 2 });
  const { seen } = await watch(runId, resumed);
  expect(seen.every((progress) => progress.generation === 2)).toBe(true);
  expect(seen.at(-1)).toMatchObject({ state: 'completed', rows: [{ planned: 12, done: 12, pass: 12 }] });
  const run = await findRun(assay.db, runId);
  await expect(resumeRun(assay.connection, { run, budgets: {} })).rejects.toThrow('Nothing is left to run');
});

test('a watch goes on when Postgres ends its connections', async () => {
  const runId = await assay.start(document(200, 12));
  let cut = 0;
  const { seen } = await watch(runId, {
    onEach: async () => {
      if ((cut += 1) > 3) return;
      await assay.db.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
      );
    },
  });
  expect(cut).toBeGreaterThan(3);
  expect(seen.at(-1)).toMatchObject({ state: 'completed', rows: [{ planned: 12, done: 12, pass: 12 }] });
});

test('a run that cannot be prepared ends as failed and says why, and cannot be resumed', async () => {
  const wrong = { ...document(0), models: [{ id: 'flaky', provider: 'mock', model: 'flaky' }] };
  const runId = createTestRunId();
  // Sent as a plain client sends it: Assay's own client refuses it before it starts anything.
  await startPlain(assay, runId, { document: wrong });
  const { seen } = await watch(runId);
  expect(seen.at(-1)).toMatchObject({ state: 'failed', reason: expect.stringContaining('accuracy') });
  const run = await findRun(assay.db, runId);
  await expect(resumeRun(assay.connection, { run, budgets: {} })).rejects.toThrow(
    'ended before it was planned',
  );
  await expect(loadReport(assay.connection, runId)).rejects.toThrow('accuracy');
});

test('a workflow that ends without leaving a run is no endless watch', async () => {
  const runId = createTestRunId();
  const handle = await assay.client.workflow.start(RUN_WORKFLOW, {
    workflowId: toRunWorkflowId(runId),
    taskQueue: `${WORKFLOW_QUEUE}-of-nobody`,
    args: [{ runId }],
  });
  await handle.terminate();
  await expect(watch(runId)).rejects.toThrow('before it left anything in the store');
  await expect(cancelRun(assay.connection, runId)).rejects.toThrow('is closed (terminated)');
});
