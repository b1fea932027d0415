import { afterAll, beforeAll, expect, test } from 'vitest';
import { compareModels } from '../../examples/library/compare-models.ts';
import { AssayClient } from '../../src/index.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { oracle, sums, waitFor } from '../workflows/support.ts';

let assay: TestAssay;
let client: AssayClient;
beforeAll(async () => {
  assay = await createTestAssay();
  const { temporalAddress: address } = assay.temporal;
  const temporal = { address, namespace: assay.client.options.namespace };
  client = await AssayClient.connect({ databaseUrl: assay.databaseUrl, temporal });
});
afterAll(async () => {
  await client.close();
  await assay.close();
});

test('the example compares two models and returns their leaderboard', async () => {
  const said: string[] = [];
  const board = await compareModels(client as never, (line) => said.push(line));
  expect(board[0]).toBe('1 mock:oracle 1.00');
  expect(board[1]).toMatch(/^\d forgetful 0\.\d+$/);
  expect(said.at(-1)).toMatch(/^sums-.*: completed, 32 cells$/);
});

test('a run is started from a document, steered, read and found again', async () => {
  const dear = {
    ...oracle('right', { latencyMs: 50, maxOutputTokens: 1_000 }),
    price: { input: 1, output: 100 },
  };
  const document = {
    models: [dear],
    suite: sums(1_200),
    budgets: { confirmAboveUsd: 1 },
    execution: { taskConcurrency: 2 },
  };
  const handle = await client.start(document, { runId: createTestRunId(), selection: { limit: 12 } });
  await waitFor(
    'the wait for approval',
    async () => (await handle.progress())?.state === 'awaiting_approval',
  );
  await expect(handle.pause()).rejects.toThrow(`Cannot pause run ${handle.runId}: it waits for approval`);
  expect(await handle.approve({ by: 'a test' })).toMatchObject({ state: 'running', changed: true });
  expect(await handle.pause()).toMatchObject({ state: 'paused' });
  expect(await handle.set({ taskConcurrency: 6 })).toMatchObject({ changed: true });
  await expect(handle.set({ maxRunUsd: 1 })).rejects.toThrow('has no such cap');
  expect((await handle.report()).next).toBe(`assay unpause ${handle.runId}`);
  await handle.unpause();
  expect(await handle.result()).toEqual({
    runId: handle.runId,
    state: 'completed',
    reason: null,
    outcomes: { scored: 12 },
  });
  const rows = [];
  for await (const row of handle.rows()) rows.push(row);
  expect(rows.map(({ task }) => task)).toEqual(Array.from({ length: 12 }, (_, index) => index + 1));
  expect(rows[0]).toMatchObject({ modelId: 'right', caseId: 'sum-1', outcome: { kind: 'scored', score: 1 } });
  await expect(handle.unpause()).rejects.toThrow('it has ended (completed)');
  expect((await client.attach(handle.runId)).runId).toBe(handle.runId);
  await expect(client.attach('nothing-like-it')).rejects.toThrow('There is no run');
  expect(await client.list()).toContainEqual(expect.objectContaining({ runId: handle.runId }));
});

test('a cancelled run is resumed and its result is that of the new generation', async () => {
  await using other = await AssayClient.connect({
    databaseUrl: assay.databaseUrl,
    temporal: { address: assay.temporal.temporalAddress, namespace: assay.client.options.namespace },
  });
  const document = {
    models: [oracle('right', { latencyMs: 200 })],
    suite: sums(12),
    execution: { taskConcurrency: 2 },
  };
  const handle = await other.start(document);
  await waitFor('the first answer', async () => ((await handle.progress())?.rows[0]?.done ?? 0) > 0);
  expect(await handle.cancel()).toEqual({ kind: 'requested' });
  expect(await handle.result()).toMatchObject({ state: 'cancelled' });
  expect(await handle.resume()).toMatchObject({ generation: 2 });
  expect(await handle.result()).toMatchObject({ state: 'completed', outcomes: { scored: 12 } });
});

test('what is wrong with a document or an address is told as the command tells it', async () => {
  await expect(client.start({ models: ['mock:oracle'] })).rejects.toThrow('suite');
  await expect(client.start({}, { runId: 'last' })).rejects.toThrow('cannot be a run id');
  const databaseUrl = 'postgres://nobody@127.0.0.1:1/none';
  await expect(AssayClient.connect({ databaseUrl })).rejects.toThrow('cannot be used');
});
