import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findTemporalBinary } from '../../src/local/temporal-binary.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { loadState, oracle, sums, waitFor, waitForCalls } from '../workflows/support.ts';

/** Nothing of Assay but the names of docs/temporal-client.md. */
let assay: TestAssay;
let temporal: (...args: readonly string[]) => Promise<string>;
beforeAll(async () => {
  assay = await createTestAssay({ options: { maxHeartbeatThrottleInterval: 500 } });
  const { path } = await findTemporalBinary({ environment: process.env, note: () => undefined });
  const place = ['--address', assay.temporal.temporalAddress, '--namespace', assay.client.options.namespace];
  temporal = async (...args) =>
    (await promisify(execFile)(path, [...args, ...place, '--output', 'json'])).stdout;
});
afterAll(() => assay.close());

const document = {
  models: [
    { ...oracle('right', { latencyMs: 150, maxOutputTokens: 1_000 }), price: { input: 1, output: 100 } },
  ],
  suite: sums(12),
  budgets: { confirmAboveUsd: 0.5 },
  execution: { taskConcurrency: 2 },
};

test("a run is started, approved, steered, read and cancelled with Temporal's own command", async () => {
  const runId = createTestRunId();
  const workflowId = `run/${runId}`;
  const input = JSON.stringify({ document });
  const id = ['--workflow-id', workflowId];
  await temporal('workflow', 'start', '--type', 'run', '--task-queue', 'assay', ...id, '--input', input);
  const update = ['workflow', 'update', 'execute', ...id, '--name'];
  expect(await temporal(...update, 'approve', '--input', '{"by":"ops"}')).toContain('"changed": true');
  expect(await temporal(...update, 'set', '--input', '{"taskConcurrency":4}')).toContain('taskConcurrency');
  await expect(temporal(...update, 'set', '--input', '{"tasks":4}')).rejects.toThrow(
    'tasks: expected one of',
  );
  await temporal('workflow', 'signal', ...id, '--name', 'pause');
  await waitFor('the pause', async () => (await loadState(assay, runId)).state === 'paused');
  expect(await temporal('workflow', 'query', ...id, '--type', 'progress')).toContain('paused');
  expect(await temporal(...update, 'unpause')).toContain('"changed": true');
  const result = await temporal('workflow', 'result', ...id);
  expect(JSON.parse(result)).toMatchObject({
    result: { runId, state: 'completed', outcomes: { scored: 12 } },
  });

  const second = createTestRunId();
  const other = ['--workflow-id', `run/${second}`];
  const approved = JSON.stringify({ document, approved: true });
  await temporal(
    'workflow',
    'start',
    '--type',
    'run',
    '--task-queue',
    'assay',
    ...other,
    '--input',
    approved,
  );
  await waitForCalls(assay, second, { completed: 1 });
  await temporal('workflow', 'cancel', ...other);
  await waitFor('its end', async () => (await loadState(assay, second)).state === 'cancelled');
});

test('the same from a program with the plain Temporal client', async () => {
  const client = new Client({
    connection: assay.temporal.connection,
    namespace: assay.client.options.namespace,
  });
  const workflowId = `run/${createTestRunId()}`;
  const handle = await client.workflow.start('run', { workflowId, taskQueue: 'assay', args: [{ document }] });
  expect(await handle.executeUpdate('approve', { args: [{ by: 'a program' }] })).toMatchObject({
    changed: true,
  });
  expect(await handle.executeUpdate('pause')).toMatchObject({ state: 'paused' });
  expect(await handle.query('progress')).toMatchObject({ state: 'paused', planned: 12 });
  // What the Temporal UI offers to send, and shows as the details of the run.
  const metadata = await handle.query<{
    definition: { updateDefinitions: readonly { name: string; description: string }[] };
    currentDetails: string;
  }>('__temporal_workflow_metadata');
  const { updateDefinitions } = metadata.definition;
  expect(updateDefinitions.map(({ name }) => name).toSorted()).toEqual([
    'approve',
    'pause',
    'reject',
    'set',
    'unpause',
  ]);
  expect(updateDefinitions.every(({ description }) => description.length > 20)).toBe(true);
  expect(metadata.currentDetails).toMatch(/^\*\*Paused: .*assay unpause/s);
  await handle.signal('unpause');
  expect(await handle.result()).toMatchObject({ state: 'completed', planned: 12, recorded: 12, missing: [] });
});
