import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHUNK_BYTES, hasBlob, loadBlob, saveBlob, toDigest } from '../../src/store/blobs.ts';
import { loadPlan } from '../../src/store/plans.ts';
import type { Db } from '../../src/store/pool.ts';
import { appendSteps, loadTranscript } from '../../src/store/steps.ts';
import { attemptKey, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const key = attemptKey('damage', 1);

test('AF-15 what was damaged in the store, or recorded in another form, is refused by name', async () => {
  const digest = await saveBlob(store.pool, Buffer.from('as it was'));
  await store.pool.query('update blobs set bytes = $2 where digest = $1', [digest, Buffer.from('as it is')]);
  await store.pool.query('update blobs set size_bytes = length(bytes) where digest = $1', [digest]);
  await expect(loadBlob(store.pool, digest)).rejects.toThrow(`${digest} is damaged`);
  const place = { key, tryNumber: 6 };
  await appendSteps(store.pool, {
    ...place,
    steps: [{ sequence: 1, message: { role: 'user', text: 'true' } }],
  });
  const other = Buffer.from('{"role":"user","text":"lies"}');
  const damage = `update blobs set bytes = $1 where digest in (select digest from steps where try_number = 6)`;
  await store.pool.query(damage, [other]);
  await expect(loadTranscript(store.pool, { ...place, upToSequence: 1 })).rejects.toThrow('is damaged');
  await prepareRun(store.pool, 'other-form');
  expect((await loadPlan(store.pool, 'other-form')).format).toBe(1);
  await store.pool.query(`update plans set plan = replace(plan, '"format":1', '"format":2')
    where digest = (select plan_digest from runs where run_id = 'other-form')`);
  await expect(loadPlan(store.pool, 'other-form')).rejects.toThrow(/recorded in format 2 .* reads format 1/);
});

test('AF-16 a value whose save is cut off is not there at all, and can be saved again', async () => {
  const bytes = Buffer.alloc(2 * CHUNK_BYTES + 1, 9);
  const cutOff: Db = {
    query: (config) =>
      config.name === 'save-chunk' && config.values?.[1] === 0
        ? Promise.reject(new Error('the worker was killed'))
        : store.pool.query(config),
  };
  await expect(saveBlob(cutOff, bytes)).rejects.toThrow('killed');
  const digest = toDigest(bytes);
  expect(await hasBlob(store.pool, digest)).toBe(false);
  await expect(loadBlob(store.pool, digest)).rejects.toThrow('has no blob');
  expect(await saveBlob(store.pool, bytes)).toBe(digest);
  expect((await loadBlob(store.pool, digest)).equals(bytes)).toBe(true);
});
