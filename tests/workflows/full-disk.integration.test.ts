import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { startHolding } from './holding-server.ts';
import { begin, countOutcomes, loadCalls, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const TABLES = ['blobs', 'attempts', 'model_calls'];

/** From here on every write fails as Postgres fails it on a full disk; a sequence counts, for it is never rolled back. */
async function fillDisk(): Promise<void> {
  await assay.db.query(`create sequence refused_writes;
    create function refuse_write() returns trigger language plpgsql as $$ begin
      perform nextval('refused_writes');
      raise exception 'could not extend file "base/1/2": No space left on device' using errcode = 'disk_full';
    end $$;`);
  for (const table of TABLES)
    await assay.db.query(
      `create trigger full_disk before insert or update on ${table} for each statement execute function refuse_write()`,
    );
}

async function freeDisk(): Promise<void> {
  for (const table of TABLES) await assay.db.query(`drop trigger full_disk on ${table}`);
}

const countRefused = async (): Promise<number> =>
  Number((await assay.db.query('select last_value from refused_writes')).rows[0]?.last_value);

test('C4 while the disk of the store is full nothing is lost or read as valid, and with space again the run goes on', async () => {
  await using endpoint = await startHolding();
  const runId = await begin(assay, {
    providers: [endpoint.server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'one' }],
    suite: sums(6),
    execution: { taskConcurrency: 3 },
  });
  await waitFor('3 calls', async () => endpoint.held().length === 3);
  await waitFor('the first result', async () => (await countOutcomes(assay, runId))['scored'] === 1);
  await fillDisk();
  // Answers that were paid for come while they cannot be kept.
  for (const _ of [1, 2, 3]) endpoint.release('one');
  await waitFor('writes that are refused', async () => (await countRefused()) >= 6);
  expect(await countOutcomes(assay, runId)).toEqual({ scored: 1, none: 5 });
  expect((await loadReportRows(assay.db, runId)).cells).toHaveLength(6);
  await freeDisk();
  await waitFor('the last calls', async () => endpoint.held().length === 2, 60_000);
  for (const _ of [1, 2]) endpoint.release('one');
  expect(await assay.result(runId)).toMatchObject({
    state: 'completed',
    outcomes: { scored: 6 },
    missing: [],
  });
  // Nothing was asked twice.
  expect(endpoint.arrived).toHaveLength(6);
  expect((await loadCalls(assay, runId)).map(({ state }) => state)).toEqual(Array(6).fill('completed'));
});
