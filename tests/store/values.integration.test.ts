import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHUNK_BYTES, loadBlob, saveBlob, toDigest } from '../../src/store/blobs.ts';
import { checkDatabase, createPool } from '../../src/store/pool.ts';
import {
  expireSessions,
  listLiveSessions,
  markSessionClosed,
  markSessionOpened,
  planSession,
  retainSession,
} from '../../src/store/sessions.ts';
import { NOT_ENFORCED } from '../../src/domain/resources.ts';
import { appendSteps, loadTranscript } from '../../src/store/steps.ts';
import { completeToolCall, rerunToolCall, startToolCall } from '../../src/store/tool-calls.ts';
import { recordDiscardedTry } from '../../src/store/tries.ts';
import { attemptKey, openTestStore } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const key = attemptKey('values', 1);

test('a blob lies in chunks of one mebibyte, equal ones once', async () => {
  const bytes = Buffer.alloc(2 * CHUNK_BYTES + 5, 'assay');
  const digest = await saveBlob(store.pool, bytes);
  expect(await saveBlob(store.pool, bytes)).toBe(digest);
  expect(toDigest(await loadBlob(store.pool, digest))).toBe(digest);
  const { rows } = await store.pool.query(
    'select chunk, size_bytes from blobs where digest = $1 order by chunk',
    [digest],
  );
  expect(rows).toEqual([
    { chunk: 0, size_bytes: bytes.byteLength },
    { chunk: 1, size_bytes: null },
    { chunk: 2, size_bytes: null },
  ]);
});

test('the empty blob, exactly one chunk, and a view into a larger buffer come back as they were', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.alloc(CHUNK_BYTES, 7), Buffer.from('abcdef').subarray(2, 4)]) {
    expect((await loadBlob(store.pool, await saveBlob(store.pool, bytes))).equals(bytes)).toBe(true);
  }
});

test('a missing blob and a missing chunk are errors that name the digest', async () => {
  const digest = 'a'.repeat(64);
  await expect(loadBlob(store.pool, digest)).rejects.toThrow(digest);
  const damaged = await saveBlob(store.pool, Buffer.alloc(CHUNK_BYTES + 1));
  await store.pool.query('delete from blobs where digest = $1 and chunk = 1', [damaged]);
  await expect(loadBlob(store.pool, damaged)).rejects.toThrow(`${damaged} lacks chunk 1`);
});

test('steps are added once, large messages included, and read back up to a sequence', async () => {
  const large = 'x'.repeat(2 * CHUNK_BYTES);
  const steps = [
    { sequence: 1, message: { role: 'system', text: 'Be brief.' } },
    { sequence: 2, message: { role: 'user', text: large } },
    { sequence: 3, message: { role: 'user', text: 'Be brief.' } },
  ] as const;
  await appendSteps(store.pool, { key, tryNumber: 1, steps });
  await appendSteps(store.pool, {
    key,
    tryNumber: 1,
    steps: [{ sequence: 1, message: { role: 'system', text: 'other' } }],
  });
  const messages = await loadTranscript(store.pool, { key, tryNumber: 1, upToSequence: 2 });
  expect(messages).toEqual([steps[0].message, steps[1].message]);
  expect(await loadTranscript(store.pool, { key, tryNumber: 2, upToSequence: 9 })).toEqual([]);
});

test('a transcript whose blob is missing is an error', async () => {
  await appendSteps(store.pool, {
    key,
    tryNumber: 5,
    steps: [{ sequence: 1, message: { role: 'user', text: 'gone' } }],
  });
  await store.pool.query(`delete from blobs where digest in (select digest from steps where try_number = 5)`);
  await expect(loadTranscript(store.pool, { key, tryNumber: 5, upToSequence: 1 })).rejects.toThrow(
    'has no blob',
  );
});

const call = (step: number, idempotent: boolean) => ({
  key: { ...key, tryNumber: 1, step, call: 1 },
  tool: 'bash',
  argumentsDigest: 'f'.repeat(64),
  idempotent,
});

const end = (step: number, output: string) =>
  completeToolCall(store.pool, {
    key: call(step, false).key,
    status: 'success',
    output,
    message: { role: 'tool', toolCallId: 'c1', toolName: 'bash', text: output, status: 'success' },
    sequence: 10 + step,
  });

test('AF-18 AF-21 a completed tool call gives its stored output and is not run again', async () => {
  expect(await startToolCall(store.pool, call(1, false))).toEqual({ kind: 'fresh' });
  const { completed, outputDigest } = await end(1, 'done \0');
  expect(completed).toBe(true);
  expect(await startToolCall(store.pool, call(1, false))).toEqual({
    kind: 'completed',
    outputDigest,
    status: 'success',
  });
  expect((await loadBlob(store.pool, outputDigest)).toString()).toBe('done \0');
  expect((await end(1, 'again')).completed).toBe(false);
  const [message] = await loadTranscript(store.pool, { key, tryNumber: 1, upToSequence: 11 }).then((all) =>
    all.slice(-1),
  );
  expect(message).toMatchObject({ role: 'tool', text: 'done \0' });
});

test('AF-17 the ledger tells a started call from a fresh one, and counts each further execution before it begins', async () => {
  await startToolCall(store.pool, call(2, false));
  expect(await startToolCall(store.pool, call(2, false))).toEqual({ kind: 'started', executions: 1 });
  await startToolCall(store.pool, call(3, true));
  const { key: again } = call(3, true);
  expect(await rerunToolCall(store.pool, { key: again, executions: 1 })).toBe(true);
  expect(await startToolCall(store.pool, call(3, true))).toEqual({ kind: 'started', executions: 2 });
  expect(await rerunToolCall(store.pool, { key: again, executions: 1 })).toBe(false);
});

test('AF-19 the same tool and arguments at two steps are two executions; another call under one key is refused', async () => {
  expect(await startToolCall(store.pool, call(4, false))).toEqual({ kind: 'fresh' });
  expect(await startToolCall(store.pool, call(5, false))).toEqual({ kind: 'fresh' });
  await expect(
    startToolCall(store.pool, { ...call(5, false), argumentsDigest: 'e'.repeat(64) }),
  ).rejects.toThrow('other arguments');
  await expect(end(6, 'x')).rejects.toThrow('was never started');
});

test('a session is planned before it is opened and listed until it is closed', async () => {
  const intent = {
    sessionId: 's1',
    key,
    tryNumber: 1,
    purpose: 'task',
    kind: 'host',
    hostId: 'h1',
    workflowId: 'run/values/a1',
    executionId: 'x1',
  } as const;
  await planSession(store.pool, intent);
  expect(await listLiveSessions(store.pool, { hostId: 'h1' })).toMatchObject([
    {
      sessionId: 's1',
      workflowId: 'run/values/a1',
      root: null,
      state: 'intent',
      keepUntil: null,
      expired: false,
    },
  ]);
  const opened = { handle: { sessionId: 's1', hostId: 'h1', root: '/somewhere' }, enforced: NOT_ENFORCED };
  await markSessionOpened(store.pool, opened);
  expect(await listLiveSessions(store.pool, { runId: 'values' })).toMatchObject([
    { state: 'open', root: '/somewhere' },
  ]);
  await markSessionClosed(store.pool, opened.handle);
  await markSessionOpened(store.pool, { ...opened, handle: { ...opened.handle, root: '/again' } });
  expect(await listLiveSessions(store.pool)).toEqual([]);
  expect(await planSession(store.pool, intent)).toBe('over');
  // The same attempt once more, that had given its place away.
  expect(await planSession(store.pool, { ...intent, executionId: 'x2' })).toBe('again');
  await markSessionClosed(store.pool, opened.handle);
});

test('a session that begins anew on another host is that host’s alone', async () => {
  const intent = {
    key,
    sessionId: 'm1',
    tryNumber: 1,
    purpose: 'task',
    kind: 'host',
    workflowId: 'run/values/a1',
    executionId: 'x1',
  } as const;
  const here = { sessionId: 'm1', hostId: 'h1', root: '/here' };
  const there = { sessionId: 'm1', hostId: 'h2', root: '/there' };
  expect(await planSession(store.pool, { ...intent, hostId: 'h1' })).toBe('new');
  expect(await planSession(store.pool, { ...intent, hostId: 'h2' })).toBe('again');
  expect(await listLiveSessions(store.pool, { hostId: 'h1' })).toEqual([]);
  // The first one wakes up, opens it and then removes it as nobody's.
  await markSessionOpened(store.pool, { handle: here, enforced: NOT_ENFORCED });
  await markSessionClosed(store.pool, here);
  await markSessionOpened(store.pool, { handle: there, enforced: NOT_ENFORCED });
  expect(await listLiveSessions(store.pool)).toMatchObject([{ hostId: 'h2', root: '/there', state: 'open' }]);
  await markSessionClosed(store.pool, there);
});

test('a grading that is done again opens its session again', async () => {
  const intent = {
    key,
    sessionId: 'e1',
    tryNumber: 1,
    purpose: 'evaluation',
    kind: 'host',
    hostId: 'h1',
    workflowId: 'run/values/a1',
    executionId: 'x1',
  } as const;
  await planSession(store.pool, intent);
  await markSessionClosed(store.pool, intent);
  expect(await planSession(store.pool, intent)).toBe('again');
  expect(await listLiveSessions(store.pool)).toMatchObject([
    { sessionId: 'e1', state: 'intent', root: null },
  ]);
  // Also one that was kept, when its grading is sent once more.
  const kept = { ...intent, sessionId: 'e2', keepMs: 60_000 };
  await planSession(store.pool, kept);
  await markSessionOpened(store.pool, { handle: { ...kept, root: '/kept' }, enforced: NOT_ENFORCED });
  await retainSession(store.pool, 'e2');
  expect(await planSession(store.pool, kept)).toBe('again');
  expect(await listLiveSessions(store.pool)).toMatchObject([
    { sessionId: 'e1' },
    { sessionId: 'e2', state: 'intent', keepUntil: null },
  ]);
  await markSessionClosed(store.pool, kept);
  await markSessionClosed(store.pool, intent);
});

test('a session that is to be kept is retained until its time is over, others are not', async () => {
  const intent = {
    key,
    tryNumber: 1,
    purpose: 'task',
    kind: 'docker',
    hostId: 'h2',
    workflowId: 'run/values/a1',
    executionId: 'x1',
  } as const;
  await planSession(store.pool, { ...intent, sessionId: 'k1', keepMs: 3_600_000 });
  await planSession(store.pool, { ...intent, sessionId: 'k2' });
  const resources = { ...NOT_ENFORCED, pids: 5, by: 'docker' };
  const handles = ['k1', 'k2'].map((sessionId) => ({ sessionId, hostId: 'h2', root: 'c' }));
  for (const handle of handles) await markSessionOpened(store.pool, { handle, enforced: resources });
  expect(await retainSession(store.pool, 'k1')).toBe(true);
  expect(await retainSession(store.pool, 'k1')).toBe(true);
  expect(await retainSession(store.pool, 'k2')).toBe(false);
  const read = () => listLiveSessions(store.pool, { hostId: 'h2' });
  expect(await read()).toMatchObject([
    { sessionId: 'k1', state: 'retained', expired: false, keepUntil: expect.any(String), resources },
    { sessionId: 'k2', state: 'open', expired: false, keepUntil: null },
  ]);
  await expireSessions(store.pool, ['k1', 'k2']);
  expect((await read()).map(({ expired }) => expired)).toEqual([true, false]);
  for (const handle of handles) await markSessionClosed(store.pool, handle);
  expect(await read()).toEqual([]);
});

test('a discarded try is kept once', async () => {
  const discarded = {
    key,
    tryNumber: 1,
    stage: 'open',
    scope: 'attempt',
    pattern: null,
    error: 'no space\0',
  } as const;
  await recordDiscardedTry(store.pool, discarded);
  await recordDiscardedTry(store.pool, discarded);
  const { rows } = await store.pool.query(`select late, error from tries`);
  expect(rows).toEqual([{ late: false, error: 'no space\u241B0000' }]);
});

test('an unreachable Postgres is one clear message without the password', async () => {
  const url = 'postgres://user:hunter2@127.0.0.1:1/assay';
  const pool = createPool(url);
  const failure = await checkDatabase(pool, url).catch((error: Error) => error.message);
  expect(failure).toMatch(/^Postgres at 127\.0\.0\.1:1\/assay cannot be used: .*ECONNREFUSED.*DATABASE_URL/);
  expect(failure).not.toContain('hunter2');
  await pool.end();
});
