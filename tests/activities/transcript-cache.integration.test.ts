import { afterAll, beforeAll, expect, test } from 'vitest';
import { TranscriptCache } from '../../src/activities/transcript-cache.ts';
import type { Message } from '../../src/domain/transcript.ts';
import type { Db } from '../../src/store/pool.ts';
import { appendSteps, loadTranscript } from '../../src/store/steps.ts';
import { attemptKey, openTestStore } from '../store/support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const say = (sequence: number): { sequence: number; message: Message } => ({
  sequence,
  message: { role: 'user', text: `message ${sequence} é` },
});

/** A transcript of so many messages, and a way to the store that counts the rows it gave. */
async function prepare(runId: string, count: number) {
  const place = { key: attemptKey(runId, 1), tryNumber: 1 };
  const write = (from: number, upTo: number): Promise<void> =>
    appendSteps(store.pool, {
      ...place,
      steps: Array.from({ length: upTo - from + 1 }, (_, index) => say(from + index)),
    });
  await write(1, count);
  const rows: number[] = [];
  const db: Db = {
    query: async (config) => {
      const result = await store.pool.query(config);
      rows.push(result.rows.length);
      return result as never;
    },
  };
  return { place, write, rows, db };
}

const toBytes = (messages: readonly Message[]): number =>
  messages.reduce((sum, message) => sum + Buffer.byteLength(JSON.stringify(message)), 0);

test('a step reads only what is new, and what was written here is not read at all', async () => {
  const { place, write, rows, db } = await prepare('growing', 3);
  const cache = new TranscriptCache(db);
  for (let upTo = 3; upTo <= 21; upTo += 2) {
    const { messages, jsonBytes } = await cache.read(place, upTo);
    expect(messages).toEqual(await loadTranscript(store.pool, { ...place, upToSequence: upTo }));
    expect(jsonBytes).toBe(toBytes(messages));
    await write(upTo + 1, upTo + 2);
    // Every other time the same process wrote one of them.
    if (upTo % 4 === 1) {
      const { sequence, message } = say(upTo + 1);
      cache.add(place, { sequence, message, jsonBytes: toBytes([message]) });
    }
  }
  expect(rows).toEqual([3, 2, 1, 2, 1, 2, 1, 2, 1, 2]);
});

test('another worker goes on from the store; a redelivery of an earlier step gets the earlier messages', async () => {
  const { place, write, rows, db } = await prepare('moved', 4);
  const [first, second] = [new TranscriptCache(db), new TranscriptCache(db)];
  await first.read(place, 4);
  await write(5, 8);
  expect((await second.read(place, 8)).messages).toHaveLength(8);
  await write(9, 10);
  const { messages } = await first.read(place, 10);
  expect(messages).toEqual((await second.read(place, 10)).messages);
  expect((await first.read(place, 4)).messages).toEqual(messages.slice(0, 4));
  expect(rows).toEqual([4, 8, 6, 2]);
});

test('two readings at one time give the same, and each message once', async () => {
  const { place, db } = await prepare('twice', 6);
  const cache = new TranscriptCache(db);
  const [one, other] = await Promise.all([cache.read(place, 6), cache.read(place, 6)]);
  expect(one).toEqual(other);
  expect((await cache.read(place, 6)).messages).toHaveLength(6);
});

test('tries are kept apart, and a message that is not stored is an error', async () => {
  const { place, db } = await prepare('apart', 2);
  const cache = new TranscriptCache(db);
  await cache.read(place, 2);
  await expect(cache.read({ ...place, tryNumber: 2 }, 1)).rejects.toThrow('no message 1 of apart/1/a1/g1/t2');
  await expect(cache.read(place, 3)).rejects.toThrow('no message 3 of apart/1/a1/g1/t1');
  // One that was stored before those in front of it are known is not taken.
  cache.add({ ...place, tryNumber: 3 }, { ...say(2), jsonBytes: 1 });
  await expect(cache.read({ ...place, tryNumber: 3 }, 2)).rejects.toThrow('no message 1');
});

test('a transcript over the bound is read whole and still right', async () => {
  const { place, rows, db } = await prepare('large', 8);
  const cache = new TranscriptCache(db, { maxBytes: 1_000 });
  await cache.read(place, 2);
  await cache.read(place, 8);
  expect((await cache.read(place, 8)).messages.at(-1)).toEqual(say(8).message);
  expect(rows).toEqual([2, 6, 8]);
});
