import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatWidths } from '../../src/cli/format-widths.ts';
import { listWidths } from '../../src/store/widths.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer } from './model-server.ts';
import {
  begin,
  cancelAndWait,
  countOutcomes,
  loadCalls,
  loadState,
  oracle,
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

const send = (runId: string, name: string, input: object = {}) =>
  workflowOf(assay, runId).executeUpdate(name, { args: [input] });

const refusal = (text: string) => ({ cause: { message: expect.stringContaining(text) } });

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const listChanges = async (runId: string) =>
  (
    await assay.db.query(
      'select limit_name, old_value, new_value, changed_by from limit_changes where run_id = $1 order by id',
      [runId],
    )
  ).rows.map((row) => [row.limit_name, row.old_value, row.new_value, row.changed_by]);

/** An attempt that has started before a pause may be about to make its call: quiet is a second without any. */
async function waitForQuiet(runId: string): Promise<void> {
  let [before, quietSinceMs] = ['', Date.now()];
  await waitFor('what runs to end', async () => {
    const calls = await loadCalls(assay, runId);
    const now = JSON.stringify(calls.map(({ state }) => state));
    if (now !== before || now.includes('started')) quietSinceMs = Date.now();
    before = now;
    return Date.now() - quietSinceMs > 1_000;
  });
}

test.each(['auto', 'off'] as const)(
  'packing %s: paused for longer than its deadline, a run starts nothing, and then completes',
  async (packing) => {
    const runId = await begin(assay, {
      models: [oracle('right', { latencyMs: 150 })],
      suite: sums(9),
      execution: { taskConcurrency: 3, timeout: '8s', packing },
    });
    await waitForCalls(assay, runId, { completed: 1 });
    expect(await send(runId, 'pause', { by: 'ana', note: 'look at this' })).toMatchObject({
      state: 'paused',
      changed: true,
    });
    expect(await send(runId, 'pause')).toMatchObject({ state: 'paused', changed: false });
    expect((await loadState(assay, runId)).state).toBe('paused');
    await waitForQuiet(runId);
    const calls = (await loadCalls(assay, runId)).length;
    await sleep(7_500);
    expect((await loadCalls(assay, runId)).length).toBe(calls);
    expect(calls).toBeLessThan(9);
    expect(await workflowOf(assay, runId).query('progress')).toMatchObject({
      state: 'paused',
      deadlineAt: null,
      taskConcurrency: 3,
    });
    expect(await send(runId, 'unpause', { by: 'ben' })).toMatchObject({ state: 'running', changed: true });
    expect(await send(runId, 'unpause')).toMatchObject({
      changed: false,
      message: expect.stringContaining('is not paused'),
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 9 } });
    expect(await listChanges(runId)).toEqual([
      ['state', 'running', 'paused', 'ana'],
      ['state', 'paused', 'running', 'ben'],
    ]);
  },
);

test('after an unpause the deadline still comes, later by the time of the pause', async () => {
  const runId = await begin(assay, {
    models: [oracle('right', { faults: [{ case: 'sum-1', fault: { kind: 'hang' } }] })],
    suite: sums(1),
    execution: { timeout: '4s' },
  });
  await waitForCalls(assay, runId, { started: 1 });
  await send(runId, 'pause');
  await sleep(2_000);
  await send(runId, 'unpause');
  expect(await assay.result(runId)).toMatchObject({ state: 'timed_out', outcomes: { interrupted: 1 } });
  const { rows } = await assay.db.query(
    'select extract(epoch from finished_at - started_at)::float8 as seconds from runs where run_id = $1',
    [runId],
  );
  expect(rows[0].seconds).toBeGreaterThan(5.9);
});

test.each(['auto', 'off'] as const)(
  'packing %s: paused between two tries and two attempts of one task, neither starts',
  async (packing) => {
    const faults = [{ case: 'sum-1', times: 1, fault: { status: 500, text: 'down' } }];
    const runId = await begin(assay, {
      providers: [{ id: 'once', kind: 'mock', baseUrl: `http://${packing}.invalid`, retry: { max: 0 } }],
      models: [{ ...oracle('right', { faults, latencyMs: 100 }), provider: 'once' }],
      suite: sums(2),
      attempts: { k: 2, strategy: 'avg' },
      retries: { max: 1 },
      execution: { taskConcurrency: 4, packing },
    });
    await waitForCalls(assay, runId, { failed: 1 });
    await send(runId, 'pause');
    await sleep(6_000);
    expect((await loadCalls(assay, runId)).filter(({ try_number }) => try_number > 1)).toEqual([]);
    await send(runId, 'unpause');
    expect(await assay.result(runId)).toMatchObject({
      state: 'completed',
      outcomes: { scored: 2, infra: 2 },
    });
    expect((await loadCalls(assay, runId)).filter(({ try_number }) => try_number > 1)).toHaveLength(2);
  },
);

test('a paused run is cancelled as any other', async () => {
  const runId = await begin(assay, {
    models: [oracle('right', { latencyMs: 100 })],
    suite: sums(20),
    execution: { taskConcurrency: 2 },
  });
  await waitForCalls(assay, runId, { completed: 1 });
  await send(runId, 'pause');
  await waitForQuiet(runId);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  const { scored = 0, ...rest } = await countOutcomes(assay, runId);
  expect(rest).toEqual({ not_run: 20 - scored });
  expect(await loadState(assay, runId)).toMatchObject({ state: 'cancelled' });
  await expect(send(runId, 'unpause')).rejects.toThrow('already completed');
});

test('FE-14 taskConcurrency is lowered and raised while a run goes on, and holds; errors and cost are told for each', async () => {
  let open = 0;
  let most = 0;
  const waiting: (() => void)[] = [];
  let answered = 0;
  await using server = await startModelServer(async (response, seen) => {
    // The first call is the probe that the others wait for.
    answered += 1;
    if (answered === 1) return sendJson(response, answerSum(seen));
    open += 1;
    most = Math.max(most, open);
    await new Promise<void>((resolve) => waiting.push(resolve));
    open -= 1;
    sendJson(response, answerSum(seen));
  });
  const release = (count: number) => waiting.splice(0, count).forEach((resolve) => resolve());
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 50 } })],
    models: [{ id: 'one', provider: 'local', model: 'm', price: { input: 1, output: 1 } }],
    suite: sums(60),
    execution: { taskConcurrency: 8 },
  });
  await waitFor('8 calls', async () => open === 8);
  expect(await send(runId, 'set', { taskConcurrency: 2, by: 'ana' })).toMatchObject({
    changes: [{ limit: 'taskConcurrency', from: '8', to: '2' }],
  });
  release(8);
  await waitFor('2 calls', async () => open === 2);
  most = 0;
  for (let turn = 0; turn < 6; turn += 1) {
    release(2);
    await waitFor('the next 2 calls', async () => waiting.length === 2);
  }
  expect(most).toBe(2);
  await send(runId, 'set', { taskConcurrency: 12 });
  await waitFor('12 calls', async () => open === 12);
  await send(runId, 'set', { taskConcurrency: 50 });
  const ended = assay.result(runId);
  const pump = setInterval(() => release(50), 20);
  expect(await ended).toMatchObject({ state: 'completed', outcomes: { scored: 60 } });
  clearInterval(pump);
  expect((await listChanges(runId)).map(([, from, to]) => `${from} ${to}`)).toEqual(['8 2', '2 12', '12 50']);
  const widths = await listWidths(assay.db, runId);
  expect(widths.map((one) => one.taskConcurrency)).toEqual([8, 2, 12, 50]);
  expect(widths.reduce((sum, { cells }) => sum + cells, 0)).toBe(60);
  // The probe was answered at the first width, 20 calls at the second; each takes 100 tokens and gives 50.
  expect(widths.slice(0, 2)).toMatchObject([
    { calls: 1, failedCalls: 0, failedCells: 0 },
    { calls: 20, failedCalls: 0, failedCells: 0 },
  ]);
  expect(widths[1]?.costUsd).toBeCloseTo(20 * 0.00015, 8);
  expect(formatWidths(widths)).toMatch(/2 +\S+ \S+ .* 20 +0 \(0 %\) +\$0\.003/);
});

test('caps are raised, never lowered, and slots and the time limit are set', async () => {
  const priced = {
    ...oracle('right', { latencyMs: 100, maxOutputTokens: 10 }),
    price: { input: 1, output: 1 },
  };
  const runId = await begin(assay, {
    models: [priced],
    suite: sums(20),
    budgets: { maxRunUsd: 5, maxRunTokens: 1_000_000 },
    execution: { taskConcurrency: 2, timeout: '1h' },
  });
  await waitForCalls(assay, runId, { completed: 1 });
  await expect(send(runId, 'set', { maxRunUsd: 4, taskConcurrency: 9 })).rejects.toMatchObject(
    refusal('maxRunUsd: it is 5, and can only be raised'),
  );
  await expect(send(runId, 'set', { maxModelUsd: 4 })).rejects.toMatchObject(refusal('has no such cap'));
  await expect(send(runId, 'set', { slots: { nobody: 4 } })).rejects.toMatchObject(
    refusal('no provider "nobody"; it has mock'),
  );
  await expect(send(runId, 'set', { maxUsd: 4 })).rejects.toMatchObject(refusal('maxUsd: expected one of'));
  await expect(send(runId, 'set', {})).rejects.toMatchObject(refusal('nothing to set'));
  await expect(send(runId, 'set', { taskConcurrency: 0 })).rejects.toMatchObject(
    refusal('whole number from 1'),
  );
  await expect(send(runId, 'set', { timeoutMs: 10 })).rejects.toMatchObject(
    refusal('has gone on for longer'),
  );
  const set = {
    maxRunUsd: 6.5,
    maxRunTokens: 2_000_000,
    slots: { mock: 7 },
    timeoutMs: null,
    by: 'ana',
    note: 'more',
  };
  expect(await send(runId, 'set', set)).toMatchObject({ changed: true });
  expect(await send(runId, 'set', { maxRunUsd: 6.5 })).toMatchObject({ changed: false });
  expect(await listChanges(runId)).toEqual([
    ['timeoutMs', '3600000', null, 'ana'],
    ['maxRunUsd', '5', '6.5', 'ana'],
    ['maxRunTokens', '1000000', '2000000', 'ana'],
    ['slots', 'auto', '7', 'ana'],
  ]);
  const { rows } = await assay.db.query(
    `select cap_usd::float8, cap_tokens::int from reservations where run_id = $1 and scope = 'run'`,
    [runId],
  );
  expect(rows).toEqual([{ cap_usd: 6.5, cap_tokens: 2_000_000 }]);
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 20 } });
});

test('a model that its cap had stopped calls again once the cap is raised; what it lost stays told', async () => {
  const latencyMs = 300;
  const price = { input: 0, output: 10 };
  const runId = await begin(assay, {
    models: [
      { ...oracle('dear', { latencyMs, maxOutputTokens: 1_000 }), price },
      { ...oracle('free', { latencyMs, maxOutputTokens: 1_000 }), price: { input: 0, output: 0 } },
    ],
    suite: sums(16),
    budgets: { maxModelUsd: 0.005 },
    execution: { taskConcurrency: 2 },
  });
  await waitFor(
    'a cell that was given up',
    async () => ((await countOutcomes(assay, runId))['not_run'] ?? 0) > 0,
  );
  await send(runId, 'set', { maxModelUsd: 1 });
  const result = await assay.result(runId);
  expect(result).toMatchObject({ state: 'stopped_budget', planned: 32, recorded: 32 });
  expect(result.outcomes.not_run).toBeLessThan(16);
  expect(result.outcomes.scored).toBe(32 - (result.outcomes.not_run ?? 0));
});
