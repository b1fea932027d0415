import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadEngineStates } from '../../src/store/engine-state.ts';
import {
  listOpenEngines,
  pauseEngine,
  recordSlotChange,
  saveEngines,
  setEngineConcurrency,
} from '../../src/store/engines.ts';
import type { CallRequest } from '../../src/store/model-calls.ts';
import { beginCall } from '../../src/store/model-calls.ts';
import { ENGINE, attemptKey, callKey, mockEngine, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const request = (runId: string, task: number, engineId: string): CallRequest => ({
  key: callKey(attemptKey(runId, task)),
  modelId: 'fast',
  engineId,
  worstTokens: 100,
  worstUsd: 0.5,
  maxRetries: 2,
});

test('a paused engine hands out no call until its pause ends', async () => {
  await prepareRun(store.pool, 'paused');
  const engineId = 'pausing-engine';
  await store.pool.query(`insert into engines (engine_id, kind) values ($1, 'mock')`, [engineId]);
  await pauseEngine(store.pool, { engineId, pauseMs: 90_000, reason: 'Retry-After: 90' });
  await pauseEngine(store.pool, { engineId, pauseMs: 10, reason: 'shorter' });
  expect(await beginCall(store.pool, request('paused', 1, engineId))).toMatchObject({
    kind: 'wait',
    reason: 'engine_paused',
  });
  expect((await listOpenEngines(store.pool)).map((engine) => engine.engineId)).toEqual([ENGINE]);
  await store.pool.query('update runs set engine_ids = $2 where run_id = $1', ['paused', [engineId]]);
  const paused = (await listOpenEngines(store.pool)).find((engine) => engine.engineId === engineId);
  expect(paused?.pauseMs).toBeGreaterThan(80_000);
  const { rows } = await store.pool.query('select kind, reason from engine_events where engine_id = $1', [
    engineId,
  ]);
  expect(rows).toEqual([{ kind: 'paused', reason: 'Retry-After: 90' }]);
  await recordSlotChange(store.pool, { engineId, hostId: 'here', from: 20, to: 16, reason: 'throttled' });
  expect(await loadEngineStates(store.pool, 'paused')).toEqual([
    {
      engineId,
      concurrency: 'auto',
      slots: [16],
      requestsPerMinute: null,
      tokensPerMinute: null,
      waiting: 0,
      pausedUntil: expect.stringMatching(/^20.*Z$/),
      pauseReason: 'Retry-After: 90',
      trip: null,
    },
  ]);
});

test('the latest wish for the slots of an engine counts, and is recorded with its reason', async () => {
  const engineId = 'wished-engine';
  await saveEngines(store.pool, [mockEngine(engineId)]);
  const wish = { engineId, reason: 'assay set', runId: 'paused' };
  expect(await setEngineConcurrency(store.pool, { ...wish, concurrency: 7 })).toBe('auto');
  expect(await setEngineConcurrency(store.pool, { ...wish, concurrency: 'auto' })).toBe('7');
  expect(await setEngineConcurrency(store.pool, { ...wish, concurrency: 3, engineId: 'none' })).toBeNull();
  const { rows } = await store.pool.query(
    'select limit_name, old_value, new_value, reason from limit_changes where engine_id = $1 order by id',
    [engineId],
  );
  expect(rows).toEqual([
    { limit_name: 'slots', old_value: 'auto', new_value: '7', reason: 'assay set' },
    { limit_name: 'slots', old_value: '7', new_value: 'auto', reason: 'assay set' },
  ]);
});
