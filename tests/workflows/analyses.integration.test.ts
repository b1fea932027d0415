import { afterAll, beforeAll, expect, test } from 'vitest';
import { ANALYZERS } from '../../src/analyzers/lookup.ts';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { loadAttemptPlan } from '../../src/store/attempt-plans.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, loadCells, script, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  const broken = {
    name: 'broken',
    analyze: () => {
      throw new Error('this analyzer is broken');
    },
  };
  assay = await createTestAssay({ analyzers: [broken, ...ANALYZERS] });
});
afterAll(() => assay.close());

test('AC-A10 an analyzer that throws leaves score and outcome alone, and its error is kept; the others have their say', async () => {
  const again = bash('exit 3');
  const runId = await begin(assay, {
    models: [script([again, again, { say: '1' }])],
    suite: sums(1),
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'scored', score: 1, pass: true }]);
  const [attempt] = await loadAttemptDetail(assay.db, { runId, caseId: 'sum-1' });
  expect(attempt?.analyses).toMatchObject([
    { analyzer: 'broken', summary: null, error: 'this analyzer is broken' },
    { analyzer: 'tool-errors', facts: { calls: 2, failed: 2, 'failed.bash': 2 }, error: null },
    { analyzer: 'loops', facts: { repeated: 1, inARow: 1, longestRun: 2 } },
    { analyzer: 'time-spent', facts: { modelMs: expect.any(Number), toolMs: expect.any(Number) } },
  ]);
  expect(attempt?.warnings).toEqual([]);
});

test('AC-R4 the plan of an attempt is there before anything opens, its tries have the same, and equal ones are kept once', async () => {
  const runId = await begin(assay, {
    models: [script([{ say: '1' }])],
    suite: sums(2, { setup: 'exit 7' }),
    harness: { kind: 'agent', maxSteps: 5 },
    environment: { kind: 'host', variables: { PLACE: 'here' } },
    attempts: { k: 2 },
    limits: { attemptTokens: 500 },
    retries: { max: 1 },
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { infra: 4 } });
  const { rows } = await assay.db.query<{ of: string; digest: string; count: number }>(
    `select 'attempt' as of, plan_digest as digest, count(*)::int from attempts where run_id = $1 group by 2
     union all select 'try', plan_digest, count(*)::int from tries where run_id = $1 group by 2`,
    [runId],
  );
  const digest = rows[0]?.digest ?? '';
  expect(rows).toEqual([
    { of: 'attempt', digest, count: 4 },
    { of: 'try', digest, count: 4 },
  ]);
  expect(await loadAttemptPlan(assay.db, digest)).toMatchObject({
    model: { id: 'agent' },
    request: { harness: { kind: 'agent', maxSteps: 5 }, environment: { variables: { PLACE: 'here' } } },
    limits: { attemptTokens: 500 },
    scorers: [{ kind: 'exact' }],
  });
});
