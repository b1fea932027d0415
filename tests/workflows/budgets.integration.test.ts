import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer } from './model-server.ts';
import { begin, countOutcomes, loadCalls, loadCells, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

/** 100 tokens in and 50 out of each answer: 0.0002 USD; the worst case of a call, its bytes and 90 tokens out, is above that. */
const price = { input: 1, output: 2 };
const COST = 0.0002;
const model = (id: string, more: object = {}) => ({
  id,
  provider: 'local',
  model: id,
  params: { maxOutputTokens: 90 },
  price,
  ...more,
});

const startAnswering = () =>
  startModelServer(async (response, seen) => {
    await sleep(20);
    sendJson(response, answerSum(seen));
  });

test('AA-07 C27 the run cap stops the run; what was sent is recorded and priced, and is below the cap', async () => {
  await using server = await startAnswering();
  const cap = 20.5 * COST;
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 8 } })],
    models: [model('one')],
    suite: sums(60),
    execution: { taskConcurrency: 8 },
    budgets: { maxRunUsd: cap },
  });
  const result = await assay.result(runId);
  const sent = server.calls().length;
  expect(result).toMatchObject({
    state: 'stopped_budget',
    planned: 60,
    recorded: 60,
    reason: { code: 'budget' },
  });
  expect(sent * COST).toBeLessThanOrEqual(cap);
  expect(sent).toBeGreaterThan(15);
  expect(await countOutcomes(assay, runId)).toEqual({ scored: sent, not_run: 60 - sent });
  const calls = await loadCalls(assay, runId);
  expect(calls.map((one) => [one.state, one.cost_usd])).toEqual(Array(sent).fill(['completed', COST]));
});

test('AA-07 a model cap stops that model only, and resume with a larger budget goes on', async () => {
  await using server = await startAnswering();
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 4 } })],
    models: [model('dear'), model('cheap', { price: { input: 0, output: 0 } })],
    suite: sums(20),
    budgets: { maxModelUsd: 10.5 * COST },
  });
  expect(await assay.result(runId)).toMatchObject({
    state: 'stopped_budget',
    reason: { message: expect.stringContaining('dear') },
  });
  const cells = await loadCells(assay, runId);
  const of = (id: string, outcome: string) =>
    cells.filter((one) => one.model_id === id && one.outcome === outcome);
  expect(of('cheap', 'scored')).toHaveLength(20);
  const before = of('dear', 'scored').length;
  expect(before).toBeLessThanOrEqual(10);
  expect(of('dear', 'not_run')).toHaveLength(20 - before);
  expect(of('dear', 'not_run').map((one) => one.try_number)).toEqual(Array(20 - before).fill(0));

  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error('the run is gone');
  await resumeRun(assay.connection, { run, budgets: { maxModelUsd: 1 } });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 40 } });
  expect(server.calls()).toHaveLength(40);
  const { cells: rows } = await loadReportRows(assay.db, runId);
  const cost = rows.reduce((sum, one) => sum + (one.costUsd ?? 0), 0);
  expect(cost).toBeCloseTo(20 * COST, 9);
});

test('AA-08 onExceed warn runs to the end, and the report says that the budget was passed', async () => {
  await using server = await startAnswering();
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [model('one')],
    suite: sums(12),
    budgets: { maxRunUsd: 5 * COST, onExceed: 'warn' },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 12 } });
  const { run } = await loadReportRows(assay.db, runId);
  expect(run.warnings.join('\n')).toContain('budget of the run was passed');
});

test('C27 calls without usage are charged at their worst case, so a cap holds for them as well', async () => {
  await using server = await startModelServer((response, seen) =>
    sendJson(response, answerSum(seen, { usage: undefined })),
  );
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 2 } })],
    models: [model('one')],
    suite: sums(30),
    budgets: { maxRunUsd: 0.001 },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'stopped_budget' });
  const calls = await loadCalls(assay, runId);
  expect(calls.every((one) => one.estimated && one.cost_usd === null)).toBe(true);
  expect(calls.reduce((sum, one) => sum + (one.charged_usd ?? 0), 0)).toBeLessThanOrEqual(0.001);
});

test('AA-06 a budget that is never reached changes nothing', async () => {
  await using server = await startAnswering();
  const document = {
    providers: [server.provider()],
    models: [model('one')],
    suite: sums(5),
    execution: { seed: 1 },
  };
  const [free, capped] = [
    await begin(assay, document),
    await begin(assay, { ...document, budgets: { maxRunUsd: 1 } }),
  ];
  await Promise.all([assay.result(free), assay.result(capped)]);
  expect(await loadCells(assay, capped)).toEqual(await loadCells(assay, free));
});
