import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadMigrationStatus, migrate } from '../../src/store/migrate.ts';
import { openTestStore } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore({ empty: true });
});
afterAll(() => store.close());

test('an empty database is brought up to date once, by whoever comes first', async () => {
  const before = await loadMigrationStatus(store.pool);
  expect(before.applied).toBe(0);
  const applied = await Promise.all([migrate(store.pool), migrate(store.pool), migrate(store.pool)]);
  expect(applied.sort((a, b) => a - b)).toEqual([0, 0, before.known]);
  expect(await loadMigrationStatus(store.pool)).toEqual({ applied: before.known, known: before.known });
});

test('an applied migration that differs is one clear error', async () => {
  await store.pool.query(`update assay_migrations set digest = 'other' where number = 2`);
  await expect(migrate(store.pool)).rejects.toThrow(
    /Migration 0002_attempts\.sql .* is not the .* of this Assay/,
  );
});

test('AF-15 a database that is newer than the program is one clear error', async () => {
  await store.pool.query(`delete from assay_migrations where number = 2`);
  await store.pool.query(`update assay_migrations set number = 2 where number = 1`);
  await expect(migrate(store.pool)).rejects.toThrow('is not the');
  await store.pool.query(`truncate assay_migrations`);
  const { known } = await loadMigrationStatus(store.pool);
  await store.pool.query(
    `insert into assay_migrations select n, n || '.sql', '' from generate_series(1, $1::int + 1) n`,
    [known],
  );
  await expect(migrate(store.pool)).rejects.toThrow('is not the');
});
