import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EnvironmentProvider } from '../../src/environments/environment.ts';
import { loadBlobStream, saveBlobStream, type Readable } from '../../src/store/blob-streams.ts';
import {
  createBubblewrap,
  describeBubblewrap,
  makeSessionsFolder,
} from '../environments/bubblewrap-subject.ts';
import { makeHost, openSession } from '../environments/test-session.ts';
import { openTestStore } from './support.ts';

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: a large file in a sandbox: ${problem}`);

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Megabytes that this process holds on to in what a file would be held in. */
function measure(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers / 1_000_000;
}

const MEGABYTES = 32;
const LOOK_EVERY_BYTES = 4_000_000;

/** The same pieces; measures after every few megabytes. */
async function* watched(pieces: AsyncIterable<Uint8Array>, seen: number[]): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes >= seen.length * LOOK_EVERY_BYTES) seen.push(measure());
    yield piece;
  }
}

const SUBJECTS: readonly (readonly [string, string | null, () => Promise<EnvironmentProvider>])[] = [
  ['host', null, makeHost],
  ['bubblewrap', problem, async () => createBubblewrap(await makeSessionsFolder())],
];

test.each(SUBJECTS)(
  'in %s a file of 32 MB (200 in the soak) goes to the store and to another session piece by piece',
  async (_kind, skip, create) => {
    if (skip !== null) return;
    const provider = await create();
    const [from, to] = [await openSession(provider, 'from'), await openSession(provider, 'to')];
    const command = { command: `head -c ${MEGABYTES}000000 /dev/zero > big`, timeoutMs: 60_000 };
    await from.exec({ ...command, stdin: null, cwd: null, variables: {} }, AbortSignal.timeout(60_000));
    const before = measure();
    const seen: number[] = [];
    const read: Readable = async () => watched(await from.download('big'), seen);
    const { digest, bytes } = await saveBlobStream(store.pool, read, 100_000_000);
    await to.upload('copy', watched(loadBlobStream(store.pool, digest), seen));
    expect(bytes).toBe(MEGABYTES * 1_000_000);
    expect(await to.findFiles('.')).toEqual([{ path: 'copy', bytes }]);
    // One piece of a mebibyte on each side, and what is on its way.
    expect(Math.max(...seen) - before).toBeLessThan(8);
    for (const { handle } of [from, to]) await provider.close(handle);
  },
);
