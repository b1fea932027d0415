import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunHandle } from '../../src/client/run-handle.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { answerSum, readQuestion, sendJson, startModelServer } from '../workflows/model-server.ts';
import {
  begin,
  cancelAndWait,
  countOutcomes,
  loadCells,
  startPlain,
  sums,
  waitForCalls,
} from '../workflows/support.ts';

let assay: TestAssay;
const files = mkdtempSync(join(tmpdir(), 'assay-recorded-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(files, { recursive: true, force: true });
});

test('AC-P3 cases are read once: edits of their file touch neither later attempts nor a resume', async () => {
  const path = join(files, 'cases.jsonl');
  const write = (input: string): void => writeFileSync(path, JSON.stringify({ id: 'a', input, target: '2' }));
  write('What is 1 + 1?');
  let held = true;
  const waiting: (() => void)[] = [];
  await using server = await startModelServer(async (response, seen, number) => {
    if (number === 1) write('What is 8 + 1?');
    if (held && number === 3) await new Promise<void>((go) => waiting.push(go));
    sendJson(response, answerSum(seen));
  });
  const runId = createTestRunId();
  const document = {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: 'cases.jsonl',
    attempts: { k: 5 },
    execution: { taskConcurrency: 1 },
  };
  await startPlain(assay, runId, { document, baseDir: files });
  await waitForCalls(assay, runId, { completed: 2, started: 1 });
  await cancelAndWait(assay, runId);
  held = false;
  waiting.forEach((go) => go());
  const handle = new RunHandle(assay.connection, runId);
  await handle.resume();
  await handle.result();
  // The one that was cut off, and the two that had not started.
  const again = await loadCells(assay, runId, 2);
  expect(again.map(({ attempt, score }) => [attempt, score])).toEqual([
    [3, 1],
    [4, 1],
    [5, 1],
  ]);
  expect([...new Set(server.calls().map(readQuestion))]).toEqual(['What is 1 + 1?']);
});

test('AC-K12 parallel attempts of one task count against taskConcurrency one by one', async () => {
  let held = true;
  let most = 0;
  let inFlight = 0;
  const waiting: (() => void)[] = [];
  await using server = await startModelServer(async (response, seen, number) => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    if (held && number > 1) await new Promise<void>((go) => waiting.push(go));
    inFlight -= 1;
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: sums(1),
    attempts: { k: 6 },
    execution: { taskConcurrency: 2 },
  });
  await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(2);
  held = false;
  waiting.forEach((go) => go());
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 6 } });
  expect(most).toBe(2);
});

test('cells of a model whose endpoint is gone are taken, and it is not called skipped', async () => {
  await using here = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const gone = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const document = (k: number) => ({
    providers: [here.provider(), gone.provider({ id: 'gone' })],
    models: ['local', 'gone'].map((provider) => ({ id: provider, provider, model: 'm' })),
    suite: sums(2),
    attempts: { k },
    gates: { minPassRate: 1, minCoverage: 1 },
  });
  const first = await begin(assay, document(1));
  await assay.result(first);
  await gone[Symbol.asyncDispose]();
  const reuse = async (k: number): Promise<string> => {
    const runId = createTestRunId();
    await assay.start(document(k), { runId, reuse: { runId: first } });
    await assay.result(runId);
    return runId;
  };
  const again = await reuse(1);
  expect(await countOutcomes(assay, again)).toEqual({ scored: 4 });
  const rows = await loadReportRows(assay.db, again);
  expect(rows.models.map(({ skippedReason }) => skippedReason)).toEqual([null, null]);
  expect(summarize(rows).gateFailures).toEqual([]);
  // What is missing of it cannot be run: it counts as not covered.
  const more = await reuse(2);
  expect(await countOutcomes(assay, more)).toEqual({ scored: 6, skipped: 2 });
  expect(
    summarize(await loadReportRows(assay.db, more)).gateFailures.map(({ gate, modelId }) => [gate, modelId]),
  ).toEqual([['minCoverage', 'gone']]);
  expect(here.calls()).toHaveLength(4);
});
