import { afterAll, beforeAll, expect, test } from 'vitest';
import { pauseEngine } from '../../src/store/engines.ts';
import { beginCall, failCall } from '../../src/store/model-calls.ts';
import { loadProgress } from '../../src/store/progress.ts';
import { attemptKey, callKey, ENGINE, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const request = (runId: string, task: number) => ({
  key: callKey(attemptKey(runId, task)),
  modelId: 'fast',
  engineId: ENGINE,
  worstTokens: 100,
  worstUsd: 0.5,
  maxRetries: 3,
});

test('progress tells what an engine does for a run, what holds its calls back, and what of the cap is used', async () => {
  const { pool } = store;
  await prepareRun(pool, 'loaded', { cases: 3, budgets: { maxRunUsd: 10 } });
  const atStart = await loadProgress(pool, 'loaded');
  expect(atStart).toMatchObject({
    engines: [
      {
        engineId: ENGINE,
        kind: 'mock',
        concurrency: 'auto',
        slots: null,
        inFlight: 0,
        nextStartMs: null,
        pausedUntil: null,
      },
    ],
    budget: { spentUsd: 0, capUsd: 10, capTokens: null },
  });

  await beginCall(pool, request('loaded', 1));
  await beginCall(pool, request('loaded', 2));
  const failure = { class: 'server', message: 'busy', spend: { kind: 'unknown' }, latencyMs: 5 } as const;
  await failCall(pool, { key: request('loaded', 2).key, requestNumber: 1, retryInMs: 60_000, ...failure });
  await pauseEngine(pool, { engineId: ENGINE, pauseMs: 60_000, reason: 'asked for a minute' });
  const pausedUntil = expect.stringMatching(/^\d{4}-.*Z$/);
  expect(await loadProgress(pool, 'loaded')).toMatchObject({
    engines: [
      { inFlight: 1, waitingForRetry: 1, waitingForRate: 0, pausedUntil, pauseReason: 'asked for a minute' },
    ],
    // The failed request may have been served: it is charged at its worst case.
    budget: { spentUsd: 0.5, capUsd: 10 },
  });
});

test('calls that wait for a rate are counted, with the time of the first start; a run without a cap has no budget', async () => {
  const { pool } = store;
  await prepareRun(pool, 'rated', { cases: 3 });
  await pool.query(`update engines set requests_per_minute = 6, paused_until = null`);
  await pool.query(`insert into engine_rates (engine_id) values ($1) on conflict do nothing`, [ENGINE]);
  for (const task of [1, 2, 3]) await beginCall(pool, request('rated', task));
  const progress = await loadProgress(pool, 'rated');
  const [engine] = progress?.engines ?? [];
  expect(progress?.budget).toBeNull();
  expect((engine?.waitingForRate ?? 0) + (engine?.inFlight ?? 0)).toBe(3);
  expect(engine?.waitingForRate).toBeGreaterThan(0);
  expect(engine?.nextStartMs).toBeGreaterThan(0);
});
