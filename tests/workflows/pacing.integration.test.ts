import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseEngine } from '../../src/store/engines.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, readQuestion, sendJson, startModelServer } from './model-server.ts';
import { begin, cancelAndWait, sums, waitFor } from './support.ts';

/** Ten times the usual pace, for a test has no minutes. */
const slotPace = {
  lookEveryMs: 200,
  cutEveryMs: 1_500,
  quietMs: 1_000,
  slowEveryMs: 500,
  forgetMs: 6_000,
  restMs: 100,
};
let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ slotPace });
  // Two workers share every engine.
  await assay.startWorker();
});
afterAll(() => assay.close());

const model = { id: 'm', provider: 'local', model: 'm' };

async function engineIdOf(runId: string): Promise<string> {
  const { rows } = await assay.db.query('select engine_ids from runs where run_id = $1', [runId]);
  return rows[0]?.engine_ids[0] ?? '';
}

/** Cases whose texts tell which run asks. */
const named = (name: string, count: number) => ({
  name: 'named',
  scorers: ['exact'],
  cases: Array.from({ length: count }, (_, index) => ({
    id: `${name}-${index}`,
    input: `${name} ${index}`,
    target: 'yes',
  })),
});

test('two runs and two workers on one engine: its requests a minute hold, and the smaller run is not last', async () => {
  const seen: { readonly run: string; readonly atMs: number }[] = [];
  await using server = await startModelServer((response, request) => {
    seen.push({ run: readQuestion(request).split(' ')[0] ?? '', atMs: Date.now() });
    sendJson(response, answerSum(request));
  });
  const document = (name: string, cells: number) => ({
    providers: [server.provider({ limits: { requestsPerMinute: 300 } })],
    models: [model],
    suite: named(name, cells),
  });
  const large = await begin(assay, document('large', 45));
  await waitFor('the first requests', async () => seen.length >= 3);
  const small = await begin(assay, document('small', 8));
  expect(await assay.result(small)).toMatchObject({ outcomes: { scored: 8 } });
  expect(await assay.result(large)).toMatchObject({ outcomes: { scored: 45 } });
  expect(seen).toHaveLength(53);
  // One request holds the line for 62 s / 300; a start may be 1.5 s late, and half a second is on the way.
  for (const windowMs of [500, 1_000, 2_000, 4_000]) {
    const most = Math.floor((windowMs + 2_000) / (62_000 / 300)) + 1;
    for (const { atMs } of seen) {
      const inside = seen.filter((one) => one.atMs >= atMs && one.atMs < atMs + windowMs);
      expect(inside.length).toBeLessThanOrEqual(most);
    }
  }
  // From the first to the last call of the small run, about every second one is its own.
  const from = seen.findIndex((one) => one.run === 'small');
  const besides = seen.slice(from, seen.findLastIndex((one) => one.run === 'small') + 1);
  expect(8 / besides.length).toBeGreaterThan(0.25);
  const { rows } = await assay.db.query('select * from booked_starts');
  expect(rows).toEqual([]);
  // What a first request waited for its turn is in its row, and no part of its latency.
  const { rows: waits } = await assay.db.query<{ waited: number; latency: number }>(
    `select max(waited_ms) as waited, max(latency_ms) as latency from model_calls
      where run_id = $1 and request_number = 1`,
    [large],
  );
  expect(waits[0]?.waited).toBeGreaterThan(waits[0]?.latency ?? 0);
});

test('slots move towards what a provider bears, every change is recorded with its reason, and no call is lost', async () => {
  let inFlight = 0;
  await using server = await startModelServer(async (response, request) => {
    if (inFlight >= 6) return sendJson(response, { error: { message: 'slow down' } }, 429);
    inFlight += 1;
    await sleep(500);
    inFlight -= 1;
    sendJson(response, answerSum(request));
  });
  const runId = await begin(assay, {
    providers: [server.provider({ retry: { max: 30, base: '200ms' } })],
    models: [model],
    suite: sums(100),
    execution: { taskConcurrency: 24 },
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 100 } });
  const { rows: changes } = await assay.db.query(
    `select limit_name, old_value::int as before, new_value::int as after, reason from limit_changes
     where engine_id = $1 order by id`,
    [await engineIdOf(runId)],
  );
  expect(changes.every((one) => one.limit_name.startsWith('slots of '))).toBe(true);
  const cuts = changes.filter((one) => one.after < one.before);
  expect(cuts.length).toBeGreaterThanOrEqual(2);
  expect(cuts.every((one) => one.after === Math.floor(one.before * 0.8))).toBe(true);
  expect(new Set(cuts.map((one) => one.reason))).toEqual(new Set(['the provider throttles (429)']));
});

test('a paused provider gets no request, its calls come after the pause, and it holds up no worker', async () => {
  const seenAt: number[] = [];
  await using server = await startModelServer(async (response, request) => {
    seenAt.push(Date.now());
    await sleep(50);
    sendJson(response, answerSum(request));
  });
  const document = {
    providers: [server.provider({ limits: { concurrency: 2 } })],
    models: [model],
    suite: sums(12),
  };
  const runId = await begin(assay, document);
  await waitFor('the first request', async () => seenAt.length > 0);
  const engineId = await engineIdOf(runId);
  await pauseEngine(assay.db, { engineId, pauseMs: 3_000, reason: 'Retry-After: 3', runId });
  const fromMs = Date.now();
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 12 } });
  // What had been granted before may still leave.
  expect(seenAt.filter((atMs) => atMs > fromMs + 300 && atMs < fromMs + 2_900)).toEqual([]);
  expect(seenAt.at(-1)).toBeGreaterThan(fromMs + 2_900);
});

test('AA-05 Retry-After above 60 s pauses the provider for all of its calls, and is recorded', async () => {
  await using server = await startModelServer((response) => {
    response.writeHead(429, { 'retry-after': '90' }).end('{"error":{"message":"come back later"}}');
  });
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 1 } })],
    models: [model],
    suite: sums(8),
  });
  const loadEvents = async () =>
    (
      await assay.db.query('select kind, reason from engine_events where engine_id = $1', [
        await engineIdOf(runId),
      ])
    ).rows;
  await waitFor('the pause', async () => (await loadEvents()).length > 0);
  await sleep(1_000);
  // One slot in each of two workers: both may have sent before one of them knew.
  expect(server.calls().length).toBeLessThanOrEqual(2);
  expect(await loadEvents()).toContainEqual({
    kind: 'paused',
    reason: expect.stringContaining('come back later'),
  });
  const askedMs = Date.now();
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(Date.now() - askedMs).toBeLessThan(20_000);
});
