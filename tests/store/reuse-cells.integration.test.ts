import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordAttempts } from '../../src/store/attempts.ts';
import type pg from 'pg';
import { savePreparedRun } from '../../src/store/prepared-run.ts';
import { takeCells } from '../../src/store/reuse.ts';
import { insertRun } from '../../src/store/runs.ts';
import { attemptKey, buildPreparedRun, openTestStore, prepareRun } from './support.ts';

let store: { pool: pg.Pool; close: () => Promise<void> };
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const CASES = 2_000;

test('AC-K7 cells are taken with the plan or not at all: one transaction, a broken one leaves nothing', async () => {
  const { pool } = store;
  await prepareRun(pool, 'source', { cases: CASES });
  const records = Array.from({ length: CASES }, (_, index) => ({
    key: attemptKey('source', index + 1),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 1, pass: true, limit: null } as const,
    scores: [],
    answerDigest: null,
    answerPreview: 'yes',
  }));
  await recordAttempts(pool, 'source', records);
  const take = (client: Parameters<typeof takeCells>[0]) =>
    takeCells(client, { runId: 'copy', sourceRunId: 'source', allowMismatch: false });
  const prepared = buildPreparedRun('copy', { cases: CASES });
  await insertRun(pool, { runId: 'copy', name: 'copy', documentDigest: null, workflowId: 'run/copy' });
  const broken = savePreparedRun(pool, {
    ...prepared,
    alsoSave: async (client) => {
      await take(client);
      throw new Error('the worker was killed');
    },
  });
  await expect(broken).rejects.toThrow('the worker was killed');
  const count = async () =>
    (
      await pool.query(
        `select count(*)::int as cells, count(outcome)::int as scored from attempts where run_id = 'copy'`,
      )
    ).rows[0] as unknown;
  expect(await count()).toEqual({ cells: 0, scored: 0 });
  await savePreparedRun(pool, { ...prepared, alsoSave: async (client) => void (await take(client)) });
  expect(await count()).toEqual({ cells: CASES, scored: CASES });
  // A second delivery finds the plan, and takes nothing more.
  expect(
    await savePreparedRun(pool, { ...prepared, alsoSave: async (client) => void (await take(client)) }),
  ).toBe('existing');
});
