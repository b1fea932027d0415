import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RunHandle } from '../../src/client/run-handle.ts';
import type { Json } from '../../src/domain/json.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { judgeNaively, readAsked, reply, startJudge } from '../workflows/judge-server.ts';
import { answerSum, sendJson, startModelServer, toCompletion } from '../workflows/model-server.ts';
import {
  bash,
  begin,
  cancelAndWait,
  loadCalls,
  loadCells,
  oracle,
  script,
  sums,
  waitFor,
} from '../workflows/support.ts';

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-grade-again-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true, force: true });
});

/** An agent that leaves a file; its grader says nothing until a mark is there. */
const agentDocument = (mode: 'reuse' | 'fresh', mark: string): Json => ({
  models: [script([bash('printf 42 > answer.txt'), { say: '1' }])],
  suite: {
    ...sums(1),
    scorers: [
      {
        kind: 'command',
        command: `test -f ${mark} || exit 0; test "$(cat answer.txt)" = 42 && echo '{"score":1}' > $ASSAY_GRADER/r.json`,
        report: 'r.json',
      },
    ],
  } as Json,
  harness: { kind: 'agent', tools: ['bash'] },
  environment: 'host',
  evaluation: mode,
});

async function resume(runId: string): Promise<void> {
  const handle = new RunHandle(assay.connection, runId);
  await handle.resume();
  await handle.result();
}

const agentCalls = async (runId: string): Promise<number> => (await loadCalls(assay, runId)).length;

test('an unscored attempt of evaluation `fresh` is graded on resume from its kept files; the agent does not run', async () => {
  const mark = join(marks, 'fresh');
  const runId = await begin(assay, agentDocument('fresh', mark));
  await assay.result(runId);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'unscored', generation: 1 }]);
  expect(await agentCalls(runId)).toBe(2);
  writeFileSync(mark, '');
  await resume(runId);
  expect(await loadCells(assay, runId, 2)).toMatchObject([
    { outcome: 'scored', score: 1, answer_preview: '1' },
  ]);
  expect(await agentCalls(runId)).toBe(2);
  const { rows } = await assay.db.query<{ purpose: string; generation: number }>(
    'select purpose, generation from environment_sessions where run_id = $1 order by created_at',
    [runId],
  );
  expect(rows).toEqual([
    { purpose: 'task', generation: 1 },
    { purpose: 'evaluation', generation: 1 },
    { purpose: 'evaluation', generation: 2 },
  ]);
  const [cell] = (await loadReportRows(assay.db, runId)).cells;
  expect(cell?.origin).toBeNull();
  expect(cell?.wastedUsage.inputTokens).toBeNull();
});

test('an unscored attempt of evaluation `reuse` runs again on resume: its session is gone', async () => {
  const mark = join(marks, 'reuse');
  const runId = await begin(assay, agentDocument('reuse', mark));
  await assay.result(runId);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'unscored' }]);
  writeFileSync(mark, '');
  await resume(runId);
  expect(await loadCells(assay, runId, 2)).toMatchObject([{ outcome: 'scored', score: 1 }]);
  expect(await agentCalls(runId)).toBe(4);
});

test('answers whose judge could not be understood are judged again on resume, and no model is called', async () => {
  let silly = true;
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  await using judge = await startJudge((asked) => (silly ? 'hm' : judgeNaively(asked)));
  const runId = await begin(assay, {
    providers: [server.provider(), judge.provider({ id: 'judge' })],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    judge: { model: 'judge:wise' },
    suite: { ...sums(2), scorers: [{ kind: 'judge', rubric: 'Pass when it names the reference.' }] } as Json,
  });
  await assay.result(runId);
  expect((await loadCells(assay, runId)).map(({ outcome }) => outcome)).toEqual(['unscored', 'unscored']);
  expect(server.calls()).toHaveLength(2);
  silly = false;
  await resume(runId);
  expect((await loadCells(assay, runId, 2)).map(({ outcome, score }) => [outcome, score])).toEqual([
    ['scored', 1],
    ['scored', 1],
  ]);
  expect(server.calls()).toHaveLength(2);
  expect(judge.calls()).toHaveLength(4 + 2);
});

test('a resume that grades makes no call of an engine that is down', async () => {
  let isUp = true;
  await using server = await startModelServer((response, seen) =>
    isUp ? sendJson(response, answerSum(seen)) : sendJson(response, { error: { message: 'no' } }, 401),
  );
  await using judge = await startJudge(() => 'hm');
  const runId = await begin(assay, {
    providers: [server.provider(), judge.provider({ id: 'judge' })],
    models: [{ id: 'one', provider: 'local', model: 'm' }, oracle()],
    judge: { model: 'judge:wise' },
    suite: { ...sums(1), scorers: [{ kind: 'judge', rubric: 'Pass when it names the reference.' }] } as Json,
  });
  await assay.result(runId);
  isUp = false;
  await resume(runId);
  expect(server.calls()).toHaveLength(1);
  expect((await loadCells(assay, runId, 2)).map(({ outcome }) => outcome)).toEqual(['unscored', 'unscored']);
});

test('an external agent that had ended before its run was cancelled is judged on resume, and is not started again', async () => {
  let isOpen = false;
  await using judge = await startModelServer((response, seen) => {
    if (isOpen) reply(response, judgeNaively(readAsked(seen)));
  });
  const runId = await begin(assay, {
    providers: [judge.provider({ id: 'judge' })],
    models: [oracle()],
    judge: { model: 'judge:wise' },
    harness: { kind: 'command', command: ['sh', '-c', 'echo 1'] },
    environment: 'host',
    suite: { ...sums(1), scorers: [{ kind: 'judge', rubric: 'Pass when it names the reference.' }] } as Json,
  });
  await waitFor('a judge that was asked', async () => judge.calls().length === 1, 60_000);
  await cancelAndWait(assay, runId);
  isOpen = true;
  await resume(runId);
  const [cell] = (await loadReportRows(assay.db, runId)).cells;
  expect(cell?.outcome).toMatchObject({ kind: 'scored', pass: true });
  const { rows } = await assay.db.query('select generation from command_runs where run_id = $1', [runId]);
  expect(rows).toEqual([{ generation: 1 }]);
});

test('an answer that was paid before its run was cancelled is judged on resume, and its model is not called again', async () => {
  await using server = await startModelServer((response) =>
    sendJson(response, toCompletion({ content: '1' }, {}, 'length')),
  );
  let isOpen = false;
  await using judge = await startModelServer((response, seen) => {
    if (isOpen) reply(response, judgeNaively(readAsked(seen)));
  });
  const runId = await begin(assay, {
    providers: [server.provider(), judge.provider({ id: 'judge' })],
    models: [{ id: 'one', provider: 'local', model: 'm', params: { maxOutputTokens: 7 } }],
    judge: { model: 'judge:wise' },
    suite: { ...sums(1), scorers: [{ kind: 'judge', rubric: 'Pass when it names the reference.' }] } as Json,
  });
  await waitFor('a judge that was asked', async () => judge.calls().length === 1, 60_000);
  await cancelAndWait(assay, runId);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'interrupted' }]);
  isOpen = true;
  await resume(runId);
  expect(server.calls()).toHaveLength(1);
  const [cell] = (await loadReportRows(assay.db, runId)).cells;
  expect(cell).toMatchObject({ generation: 2, calls: 1, answerPreview: '1' });
  expect(cell?.outcome).toMatchObject({
    kind: 'scored',
    pass: true,
    limit: { kind: 'output', limit: 7, measured: 7 },
  });
  expect(cell?.wastedUsage.inputTokens).toBeNull();
});
