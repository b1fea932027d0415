import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunHandle } from '../../src/client/run-handle.ts';
import { scoreRun } from '../../src/client/score-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { judgeNaively, startJudge } from '../workflows/judge-server.ts';
import { answerSum, sendJson, startModelServer, toCompletion } from '../workflows/model-server.ts';
import {
  bash,
  begin,
  cancelAndWait,
  loadCalls,
  loadCells,
  loadState,
  script,
  startPlain,
  sums,
  waitForCalls,
  workflowOf,
} from '../workflows/support.ts';

let assay: TestAssay;
const files = mkdtempSync(join(tmpdir(), 'assay-score-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(files, { recursive: true, force: true });
});

async function score(runId: string, scorers?: Json): Promise<void> {
  const handle = new RunHandle(assay.connection, runId);
  await handle.score(scorers === undefined ? {} : { scorers });
  await handle.result();
}

async function scoreTexts(runId: string, texts: readonly string[]): Promise<void> {
  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error('the run is gone');
  await scoreRun(assay.connection, { run, read: { texts, baseDir: files } });
}

const report = async (runId: string) => summarize(await loadReportRows(assay.db, runId));

const loadVersions = async (runId: string) =>
  (
    await assay.db.query<{ generation: number; score_version: number; scorer: string; value: number }>(
      'select generation, score_version, scorer, value from scores where run_id = $1 order by generation, task, position',
      [runId],
    )
  ).rows;

test('answers are graded again by other scorers as a new version: nothing is run, earlier scores stay', async () => {
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm', price: { input: 1, output: 2 } }],
    suite: { ...sums(2), scorers: ['exact'] } as Json,
  });
  await assay.result(runId);
  const before = await report(runId);
  await score(runId, [
    { kind: 'numeric', tolerance: 5, weight: 1 },
    { kind: 'includes', not: true },
  ]);
  expect(server.calls()).toHaveLength(2);
  expect(await loadState(assay, runId)).toMatchObject({ state: 'completed' });
  expect((await loadCells(assay, runId, 2)).map((cell) => cell.score)).toEqual([0.5, 0.5]);
  expect((await loadVersions(runId)).map((one) => [one.generation, one.score_version, one.scorer])).toEqual([
    [1, 1, 'exact'],
    [1, 1, 'exact'],
    [2, 2, 'numeric'],
    [2, 2, 'not-includes'],
    [2, 2, 'numeric'],
    [2, 2, 'not-includes'],
  ]);
  const after = await report(runId);
  expect(after.run).toMatchObject({ scoreVersion: 2, scoredBy: ['numeric', 'not-includes'] });
  expect(after.totals).toEqual(before.totals);
  expect(after.notes.map(({ text }) => text).join()).toContain('score version 2');
  // By the run file's own once more.
  await score(runId);
  expect((await loadCells(assay, runId, 3)).map((cell) => cell.score)).toEqual([1, 1]);
  expect((await report(runId)).run).toMatchObject({ scoreVersion: 3, scoredBy: null });
  expect(server.calls()).toHaveLength(2);
  // Who names scored cells wants other answers.
  const handle = new RunHandle(assay.connection, runId);
  await handle.retry({ only: ['scored'] });
  await handle.result();
  expect(server.calls()).toHaveLength(4);
});

test('a run that was cancelled stays so after its answers are graded again, and resumes by the new scorers', async () => {
  let held = true;
  const waiting: (() => void)[] = [];
  let calls = 0;
  await using server = await startModelServer(async (response, seen) => {
    calls += 1;
    if (held && calls > 1) await new Promise<void>((go) => waiting.push(go));
    sendJson(response, answerSum(seen));
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: sums(3),
    execution: { taskConcurrency: 1 },
  });
  await waitForCalls(assay, runId, { completed: 1, started: 1 });
  await cancelAndWait(assay, runId);
  held = false;
  waiting.forEach((go) => go());
  await score(runId, ['includes']);
  const { state, reason } = await loadState(assay, runId);
  expect(state).toBe('cancelled');
  expect(reason).toContain('was cancelled');
  expect((await loadCells(assay, runId, 2)).map((cell) => cell.outcome)).toEqual(['scored']);
  const handle = new RunHandle(assay.connection, runId);
  await handle.resume();
  await handle.result();
  const { cells } = await loadReportRows(assay.db, runId);
  expect(cells.map(({ scores }) => scores.map(({ kind }) => kind))).toEqual(Array(3).fill(['includes']));
});

test('an attempt that was graded in its own session says that only running it again grades it', async () => {
  const command = { kind: 'command', command: 'test -f out.txt' };
  const document = (mode: 'reuse' | 'fresh'): Json => ({
    models: [script([bash('touch out.txt'), { say: '1' }])],
    suite: { ...sums(2), scorers: [command] } as Json,
    harness: { kind: 'agent', tools: ['bash'] },
    environment: 'host',
    evaluation: mode,
  });
  const runId = await begin(assay, document('reuse'));
  await assay.result(runId);
  const handle = new RunHandle(assay.connection, runId);
  await handle.score({ scorers: [{ ...command, command: 'true' }] });
  await expect(workflowOf(assay, runId).result()).rejects.toThrow('Workflow execution failed');
  expect(await loadState(assay, runId)).toMatchObject({ state: 'completed' });
  expect(await loadCells(assay, runId)).toHaveLength(2);
  // Scorers that need no session grade its answers; with a second session files are graded, too.
  await score(runId, ['includes']);
  expect((await loadCells(assay, runId, 2)).map((cell) => cell.outcome)).toEqual(['scored', 'scored']);
  const kept = await begin(assay, document('fresh'));
  await assay.result(kept);
  writeFileSync(join(files, 'check.sh'), 'test -f out.txt && test -f none.txt\n');
  const grader = '{ kind: command, command: "sh $ASSAY_GRADER/check.sh", files: { check.sh: check.sh } }';
  await scoreTexts(kept, [grader]);
  await assay.result(kept);
  expect((await loadCells(assay, kept, 2)).map((cell) => [cell.outcome, cell.score])).toEqual([
    ['scored', 0],
    ['scored', 0],
  ]);
  expect(await loadCalls(assay, kept)).toHaveLength(4);
});

test('where one case alone needs its session, that cell says so and the others are graded', async () => {
  const suite = sums(2);
  const own = [{ kind: 'command', command: 'true' }];
  const cases = suite.cases.map((one) => (one.id === 'sum-2' ? { ...one, scorers: own } : one));
  const runId = await begin(assay, {
    models: [script([{ say: '1' }])],
    suite: { ...suite, cases } as Json,
    harness: { kind: 'agent', tools: ['bash'] },
    environment: 'host',
  });
  await assay.result(runId);
  await score(runId);
  const graded = await loadCells(assay, runId, 2);
  expect(graded.map((cell) => [cell.case_id, cell.outcome, cell.reason_code])).toEqual([
    ['sum-1', 'scored', null],
    ['sum-2', 'unscored', 'session_closed'],
  ]);
  expect(graded[1]?.detail).toContain('assay retry --only unscored');
});

test('judges are asked once more for each version, by a plain Temporal client, and their calls are counted', async () => {
  await using judge = await startJudge((asked) => judgeNaively(asked));
  const rubric = { kind: 'judge', rubric: 'Pass when it names the reference.' };
  const runId = await begin(assay, {
    providers: [judge.provider({ id: 'judge' })],
    models: [{ id: 'm', provider: 'mock', model: 'oracle' }],
    judge: { model: 'judge:wise' },
    suite: { ...sums(2), scorers: [rubric] } as Json,
  });
  await assay.result(runId);
  expect(judge.calls()).toHaveLength(2);
  await startPlain(assay, runId, { runId, score: { scorers: [{ ...rubric, name: 'strict' }] } });
  await assay.result(runId);
  expect(judge.calls()).toHaveLength(4);
  const purposes = await assay.db.query<{ purpose: string }>(
    `select distinct purpose from model_calls where run_id = $1 and purpose like 'judge%' order by 1`,
    [runId],
  );
  expect(purposes.rows.map((row) => row.purpose)).toEqual(['judge/judge/1', 'judge/strict/2']);
});

test('scorers that cannot grade what a run recorded are refused before anything starts, by name', async () => {
  const cases = [{ id: 'open', input: 'Say anything.' }];
  const runId = await begin(assay, {
    models: [script([{ say: 'yes' }])],
    suite: { name: 'open', scorers: [{ kind: 'latency', max: '10m' }], cases } as Json,
  });
  await assay.result(runId);
  await expect(scoreTexts(runId, ['exact'])).rejects.toThrow(
    'needs a target, and these cases have none: open',
  );
  await expect(scoreTexts(runId, ['{ kind: command, command: "true" }'])).rejects.toThrow(
    'this request has none',
  );
  await expect(scoreTexts(runId, ['{ kind: judge, rubric: Good? }'])).rejects.toThrow('asks a judge');
  await expect(scoreTexts(runId, ['exat'])).rejects.toThrow('unknown scorer "exat"');
  expect(await loadCells(assay, runId)).toHaveLength(1);
});

test('a grading that was stopped keeps no answer from being graded by other scorers', async () => {
  let hangs = false;
  await using judge = await startModelServer((response) => {
    if (!hangs) sendJson(response, toCompletion({ content: 'hm' }));
  });
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  const asked = { kind: 'judge', rubric: 'Pass when it is right.' };
  const runId = await begin(assay, {
    providers: [server.provider(), judge.provider({ id: 'judge' })],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    judge: { model: 'judge:wise' },
    suite: { ...sums(1), scorers: ['exact', { ...asked, required: false }] } as Json,
  });
  await assay.result(runId);
  expect((await loadCells(assay, runId)).map(({ outcome }) => outcome)).toEqual(['scored']);
  hangs = true;
  const before = judge.calls().length;
  await new RunHandle(assay.connection, runId).score({ scorers: [asked] });
  await expect.poll(() => judge.calls().length, { timeout: 60_000 }).toBeGreaterThan(before);
  await cancelAndWait(assay, runId);
  expect((await loadCells(assay, runId, 2)).map(({ outcome }) => outcome)).toEqual(['interrupted']);
  await score(runId, ['exact']);
  expect((await loadCells(assay, runId, 3)).map(({ outcome, score: value }) => [outcome, value])).toEqual([
    ['scored', 1],
  ]);
  expect(server.calls()).toHaveLength(1);
});
