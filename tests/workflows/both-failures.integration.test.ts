import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, script, sums } from './support.ts';

const marks = mkdtempSync(join(tmpdir(), 'assay-both-'));
let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
  rmSync(marks, { recursive: true });
});

test('AC-E4 where both a run and a grader failed, each is shown with its phase, and a limit beside the grader', async () => {
  // The first try takes its session away under itself.
  const lose = `[ -e ${marks}/lost ] || { touch ${marks}/lost; rm -rf "$(dirname "$PWD")"; }`;
  const runId = await begin(assay, {
    models: [script([bash(lose), bash('true'), { say: 'done' }])],
    // The grader says nothing that could be read.
    suite: { ...sums(1), scorers: [{ kind: 'command', command: 'true', report: 'verdict.json' }] },
    harness: { kind: 'agent', maxSteps: 2 },
    environment: 'host',
    retries: { max: 1 },
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { unscored: 1 } });
  const [detail] = await loadAttemptDetail(assay.db, { runId, caseId: 'sum-1' });
  expect(detail?.tries).toMatchObject([{ stage: 'run', error: expect.stringContaining('environment_lost') }]);
  expect(detail?.outcome).toMatchObject({
    kind: 'unscored',
    limit: { kind: 'steps', limit: 2 },
    reason: { phase: 'evaluate', message: expect.stringContaining('verdict.json') },
  });
});
