import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import {
  begin,
  cancelAndWait,
  countOutcomes,
  loadCalls,
  loadState,
  oracle,
  sums,
  waitFor,
  workflowOf,
} from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const dear = (more: object = {}) => ({
  models: [{ ...oracle(), params: { maxOutputTokens: 1_000 }, price: { input: 10, output: 100 } }],
  suite: sums(3),
  budgets: { confirmAboveUsd: 0.1, ...more },
});

const awaitState = (runId: string, state: string) =>
  waitFor(`state ${state}`, async () => (await loadState(assay, runId)).state === state);

const send = (runId: string, name: string, input: object = {}) =>
  workflowOf(assay, runId).executeUpdate(name, { args: [input] });

const loadChanges = async (runId: string) =>
  (
    await assay.db.query(
      'select limit_name, old_value, new_value, reason, changed_by from limit_changes where run_id = $1 order by id',
      [runId],
    )
  ).rows;

async function startWaiting(more: object = {}): Promise<string> {
  const runId = await begin(assay, dear(more));
  await awaitState(runId, 'awaiting_approval');
  return runId;
}

test('a run above confirmAboveUsd sends nothing before it is approved, and its deadline starts then', async () => {
  const runId = await begin(assay, { ...dear(), execution: { timeout: '5s' } });
  await awaitState(runId, 'awaiting_approval');
  await expect(send(runId, 'pause')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('waits for approval') },
  });
  const { rows } = await assay.db.query('select started_at, state_note from runs where run_id = $1', [runId]);
  expect(rows).toEqual([
    { started_at: null, state_note: expect.stringContaining('the estimate is 0.3 USD') },
  ]);
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  expect(await loadCalls(assay, runId)).toEqual([]);
  expect(await send(runId, 'approve', { by: 'ana', note: 'fine' })).toMatchObject({
    changed: true,
    state: 'running',
  });
  expect(await send(runId, 'approve')).toMatchObject({ changed: false });
  await expect(send(runId, 'reject')).rejects.toMatchObject({
    cause: { message: expect.stringContaining('it was approved by ana before') },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 3 } });
  expect(await loadChanges(runId)).toEqual([
    {
      limit_name: 'approval',
      old_value: 'awaited',
      new_value: 'approved',
      reason: 'fine',
      changed_by: 'ana',
    },
  ]);
});

test('a rejected run ends as cancelled, says who and why, and has a row for every cell', async () => {
  const runId = await startWaiting();
  expect(await send(runId, 'reject', { by: 'ben', note: 'too dear' })).toMatchObject({ changed: true });
  expect(await assay.result(runId)).toMatchObject({
    state: 'cancelled',
    reason: { code: 'rejected', message: 'rejected by ben: too dear' },
    planned: 3,
    recorded: 3,
    outcomes: { not_run: 3 },
  });
  expect(await loadState(assay, runId)).toEqual({ state: 'cancelled', reason: 'rejected by ben: too dear' });
  expect(await loadCalls(assay, runId)).toEqual([]);
});

test('a run that nobody approves ends as cancelled when the time for it is over', async () => {
  const runId = await begin(assay, dear({ approvalExpiry: '1s' }));
  expect(await assay.result(runId)).toMatchObject({
    state: 'cancelled',
    reason: { code: 'approval_expired', message: expect.stringContaining('approvalExpiry') },
    outcomes: { not_run: 3 },
  });
  expect(await loadChanges(runId)).toMatchObject([{ new_value: 'expired', changed_by: null }]);
});

test('a run that awaits approval is cancelled as any other', async () => {
  const runId = await startWaiting();
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await loadState(assay, runId)).toMatchObject({ state: 'cancelled' });
  expect(await countOutcomes(assay, runId)).toEqual({ not_run: 3 });
});

test('an approved start is not asked, and a signal approves as the update does', async () => {
  const approved = await assay.start(dear(), { approved: true });
  expect(await assay.result(approved)).toMatchObject({ state: 'completed' });
  expect(await loadChanges(approved)).toEqual([]);
  await expect(send(approved, 'approve')).rejects.toThrow('already completed');
  const runId = await startWaiting();
  await workflowOf(assay, runId).signal('approve', { by: 'cron' });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed' });
  expect(await loadChanges(runId)).toMatchObject([{ new_value: 'approved', changed_by: 'cron' }]);
});
