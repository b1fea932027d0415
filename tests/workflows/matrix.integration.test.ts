import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRun } from '../../src/client/start-run.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, createTestRunId, load, type TestAssay } from '../support/assay.ts';
import { begin, loadCalls, loadCells, loadState, oracle, startPlain, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const wrong = { id: 'wrong', provider: 'mock', model: 'fixed', params: { text: 'no idea' } };

test('AA-01 FE-01 two requests, two models, cases and attempts are each recorded exactly once', async () => {
  const runId = await begin(assay, {
    models: [oracle('right', { latencyMs: [1, 20] }), wrong],
    requests: [
      { name: 'first', suite: sums(3), attempts: { k: 2 } },
      { name: 'second', suite: sums(2), models: ['right'] },
    ],
  });
  expect(await assay.result(runId)).toMatchObject({
    state: 'completed',
    planned: 14,
    recorded: 14,
    missing: [],
  });
  const cells = await loadCells(assay, runId);
  const names = cells.map((one) => `${one.request}/${one.model_id}/${one.case_id}/${one.attempt}`);
  expect(new Set(names).size).toBe(14);
  expect(cells.filter((one) => one.outcome === 'scored' && one.pass)).toHaveLength(8);
  expect(cells.filter((one) => one.score === 0).every((one) => one.model_id === 'wrong')).toBe(true);
  expect(await loadCalls(assay, runId)).toHaveLength(14);
  const { rows } = await assay.db.query('select count(*)::int as scores from scores where run_id = $1', [
    runId,
  ]);
  expect(rows[0]).toEqual({ scores: 14 });
});

test('AC-K2 pass stops after the first scored pass and takes the later attempts out of the plan', async () => {
  const faults = [
    { case: 'sum-1', attempt: 1, fault: { status: 400, text: 'bad input' } },
    { case: 'sum-2', attempt: 1, fault: { status: 400, text: 'bad input' } },
    { case: 'sum-2', attempt: 2, fault: { status: 400, text: 'bad input' } },
  ];
  const runId = await begin(assay, {
    models: [oracle('right', { faults }), wrong],
    suite: sums(3),
    attempts: { k: 4, strategy: 'pass' },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', planned: 18, recorded: 18 });
  const cells = await loadCells(assay, runId);
  const planned = (model: string, caseId: string) =>
    cells
      .filter((one) => one.model_id === model && one.case_id === caseId && one.planned)
      .map((one) => (one.pass === true ? 'pass' : one.outcome));
  expect(planned('right', 'sum-1')).toEqual(['error', 'pass']);
  expect(planned('right', 'sum-2')).toEqual(['error', 'error', 'pass']);
  expect(planned('right', 'sum-3')).toEqual(['pass']);
  expect(planned('wrong', 'sum-1')).toEqual(['scored', 'scored', 'scored', 'scored']);
  expect(await loadCalls(assay, runId)).toHaveLength(18);
});

test('AC-K1 avg runs every attempt although the first passed', async () => {
  const runId = await begin(assay, { models: [oracle()], suite: sums(2), attempts: { k: 3 } });
  await assay.result(runId);
  expect((await loadCells(assay, runId)).map((one) => one.pass)).toEqual(Array(6).fill(true));
});

test.each([
  ['case', ['one/sum-1', 'two/sum-1', 'one/sum-2', 'two/sum-2']],
  ['model', ['one/sum-1', 'one/sum-2', 'two/sum-1', 'two/sum-2']],
])('order %s starts tasks in that order', async (order, expected) => {
  const runId = await begin(assay, {
    models: [oracle('one'), oracle('two')],
    suite: sums(2),
    order,
    execution: { taskConcurrency: 1 },
  });
  await assay.result(runId);
  expect((await loadCalls(assay, runId)).map((one) => `${one.model_id}/${one.case_id}`)).toEqual(expected);
});

const unset = {
  id: 'local',
  kind: 'openai-compatible',
  baseUrl: 'http://127.0.0.1:9/v1',
  apiKeyEnv: 'ASSAY_TEST_UNSET',
};
const keyless = { id: 'keyless', provider: 'local', model: 'any' };

test('AA-02 a model whose key is not set is skipped with that reason, and the others run', async () => {
  const runId = await begin(assay, {
    providers: [unset],
    models: [keyless, oracle()],
    suite: sums(2),
    attempts: { k: 2 },
  });
  expect(await assay.result(runId)).toMatchObject({
    state: 'completed',
    outcomes: { scored: 4, skipped: 4 },
  });
  const { models, cells } = await loadReportRows(assay.db, runId);
  expect(models.find((one) => one.modelId === 'keyless')?.skippedReason).toContain('ASSAY_TEST_UNSET');
  const reasons = cells.flatMap((one) =>
    one.outcome?.kind === 'skipped' ? [one.outcome.reason.message] : [],
  );
  expect(new Set(reasons).size).toBe(1);
  expect(await loadCalls(assay, runId)).toHaveLength(4);
});

test('AA-02 when every model is skipped the run fails before anything is sent', async () => {
  const runId = await begin(assay, { providers: [unset], models: [keyless], suite: sums(2) });
  await expect(assay.result(runId)).rejects.toThrow('failed');
  expect(await loadState(assay, runId)).toMatchObject({
    state: 'failed',
    reason: expect.stringContaining('ASSAY_TEST_UNSET'),
  });
  expect(await loadCalls(assay, runId)).toEqual([]);
});

test('a plain Temporal client starts a run with an inline document under the workflow id alone', async () => {
  const runId = createTestRunId();
  await startPlain(assay, runId, { document: { name: 'plain', models: [oracle()], suite: sums(2) } });
  expect(await assay.result(runId)).toMatchObject({ runId, state: 'completed', recorded: 2 });
});

test('an inline document with mistakes fails and names every one of them', async () => {
  const runId = createTestRunId();
  await startPlain(assay, runId, {
    document: { models: [oracle()], suite: sums(1), atempts: { k: 2 }, order: 'cases' },
  });
  const failure = await assay.result(runId).catch((error: unknown) => error);
  const text = String((failure as { cause?: { cause?: Error } }).cause?.cause ?? failure);
  expect(text).toContain('atempts');
  expect(text).toContain('order');
});

test('AA-18 the same run id attaches to the run that is there', async () => {
  const loaded = await load({ models: [oracle('right', { latencyMs: 50 })], suite: sums(4) });
  const start = { loaded, runId: createTestRunId(), approved: false };
  const started = await Promise.all([1, 2, 3].map(() => startRun(assay.connection, start)));
  await assay.result(start.runId);
  const again = await startRun(assay.connection, start);
  expect(new Set(started.map((one) => one.workflowId)).size).toBe(1);
  expect(again.attached).toBe(true);
  expect(await loadCalls(assay, start.runId)).toHaveLength(4);
});

test('AA-11 AF-21 a finished run that is asked for again makes no call and gives the same result', async () => {
  const runId = createTestRunId();
  const document = { models: [oracle()], suite: sums(3) };
  const first = await assay.run(document, { runId });
  await startPlain(assay, runId, { runId, document });
  expect(await assay.result(runId)).toEqual({ ...first, missing: [] });
  expect(await loadCalls(assay, runId)).toHaveLength(3);
});
