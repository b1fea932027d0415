import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { countRunning, makeMark } from '../environments/marked-processes.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { agent, together } from './agent-runs.ts';
import { reply } from './judge-server.ts';
import { startModelServer } from './model-server.ts';
import { begin, loadCells, sums } from './support.ts';

let assay: TestAssay;
const marks = mkdtempSync(join(tmpdir(), 'assay-time-'));
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true });
});

const loadMean = async (runId: string) =>
  summarize(await loadReportRows(assay.db, runId)).boards[0]?.rows[0]?.figures.mean;

test('F24 AC-A15 a grader of an external agent that runs out of time gives no score; a retry grades alone', async () => {
  const mark = makeMark();
  const command = `test -e ${marks}/go || { sleep ${mark} & sleep ${mark}; }; test "$(cat answer.txt)" = 42`;
  const suite = { ...sums(1), scorers: [{ kind: 'command', command, timeout: '2s' }] };
  const works = `echo start >> ${marks}/starts; printf 42 > answer.txt; echo done`;
  const request = { suite, evaluation: 'fresh', artifacts: ['answer.txt'] };
  const runId = await begin(assay, together({ only: agent(works, { request }) }));
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  const { reason } = JSON.parse(cell?.detail ?? '{}') as { reason: { phase: string; message: string } };
  expect([cell?.outcome, reason.phase]).toEqual(['unscored', 'evaluate']);
  expect(reason.message).toMatch(/^scorer command: .* in phase evaluate: limit 2\.0 s/);
  expect(countRunning(mark)).toBe(0);
  expect(await loadMean(runId)).toBeNull();

  writeFileSync(join(marks, 'go'), '');
  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error('the run is gone');
  await resumeRun(assay.connection, { run, budgets: {}, outcomes: ['unscored'] });
  await assay.result(runId);
  const cells = await loadCells(assay, runId, 2);
  expect(cells).toMatchObject([{ outcome: 'scored', score: 1 }]);
  expect(readFileSync(join(marks, 'starts'), 'utf8')).toBe('start\n');
});

test('F24 AC-A13 a judge of an external agent has its own time when that of the attempt is used up', async () => {
  const mark = makeMark();
  await using server = await startModelServer(async (response) => {
    // Longer than the attempt may take.
    await sleep(2_500);
    reply(response, '{"reason": "it is there", "verdict": "pass"}');
  });
  const suite = { ...sums(1), scorers: [{ kind: 'judge', rubric: 'Pass what is said.' }] };
  const request = { suite, limits: { attemptTime: '2s' } };
  const runId = await begin(
    assay,
    together(
      { only: agent(`echo 42; sleep ${mark} & sleep ${mark}`, { request }) },
      {
        providers: [server.provider({ id: 'judge' }) as Json],
        judge: { model: 'judge:wise' },
      },
    ),
  );
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  expect(cell).toMatchObject({ outcome: 'scored', score: 1 });
  const { limit } = JSON.parse(cell?.detail ?? '{}') as {
    limit: { kind: string; limit: number; measured: number };
  };
  expect(limit).toMatchObject({ kind: 'time', limit: 2_000 });
  expect(limit.measured).toBeGreaterThanOrEqual(2_000);
  expect(countRunning(mark)).toBe(0);
});
