import { afterAll, beforeAll, expect, test } from 'vitest';
import { listOpenEngines } from '../../src/store/engines.ts';
import {
  blockCells,
  listBlocked,
  listDownEngines,
  noteExhausted,
  noteLife,
  resetEngines,
  tripEngine,
  watchEngines,
} from '../../src/store/engine-health.ts';
import { beginCall } from '../../src/store/model-calls.ts';
import { ENGINE, attemptKey, callKey, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const AGENT = { engineId: ENGINE, role: 'agent' } as const;

const begin = (runId: string, task: number, purpose = 'agent') =>
  beginCall(store.pool, {
    key: callKey(attemptKey(runId, task), { purpose }),
    modelId: 'fast',
    engineId: ENGINE,
    worstTokens: 1,
    worstUsd: null,
    maxRetries: 0,
  });

const forget = () =>
  store.pool.query(
    `update engine_health set alive_at = null, tripped_at = null, reason = null, message = null,
      half_open_at = null, trips = 0, recovered_at = null, exhausted = 0, probe = null, probe_until = null`,
  );

const block = (runId: string, generation = 1) =>
  blockCells(store.pool, {
    runId,
    generation,
    engineId: ENGINE,
    modelIds: ['fast'],
    requests: [0],
    outcome: {
      kind: 'not_run',
      reason: { code: 'engine_down', phase: 'run', message: 'the engine is down' },
      limit: null,
    },
  });

test('CB-04 of many calls at once one is the probe, and the others hold until it shows life', async () => {
  await forget();
  await prepareRun(store.pool, 'probing', { cases: 40, unknownHealth: true });
  const tasks = Array.from({ length: 40 }, (_, index) => index + 1);
  const answers = await Promise.all(tasks.map((task) => begin('probing', task)));
  expect(answers.filter((one) => one.kind === 'granted')).toEqual([
    { kind: 'granted', requestNumber: 1, failuresSoFar: 0, probe: true },
  ]);
  expect(answers.filter((one) => one.kind === 'wait' && one.reason === 'probe')).toHaveLength(39);
  expect((await listOpenEngines(store.pool)).map(({ probing }) => probing)).toEqual([true]);
  expect(await noteLife(store.pool, AGENT, { runId: 'probing' })).toBe(true);
  expect(await noteLife(store.pool, AGENT, { runId: 'probing' })).toBe(false);
  expect((await listOpenEngines(store.pool)).map(({ probing }) => probing)).toEqual([false]);
  const later = await Promise.all(tasks.map((task) => begin('probing', task)));
  expect(later.filter((one) => one.kind === 'granted' && !one.probe).length).toBeGreaterThanOrEqual(39);
});

test('a probe whose worker is lost is taken over by another call after its lease', async () => {
  await forget();
  await prepareRun(store.pool, 'lost', { cases: 3, unknownHealth: true });
  expect(await begin('lost', 1)).toMatchObject({ kind: 'granted', probe: true });
  expect(await begin('lost', 2)).toMatchObject({ kind: 'wait', reason: 'probe' });
  // The same call, delivered again, is the probe again.
  expect(await begin('lost', 1)).toMatchObject({ kind: 'granted', requestNumber: 2, probe: true });
  await store.pool.query(`update engine_health set probe_until = now() - interval '1 s'`);
  expect(await begin('lost', 2)).toMatchObject({ kind: 'granted', probe: true });
});

test('CB-12 the calls of judges have a breaker of their own', async () => {
  await forget();
  await prepareRun(store.pool, 'judged', { cases: 3 });
  await tripEngine(store.pool, { engineId: ENGINE, role: 'judge' }, trip('credential'));
  expect(await begin('judged', 1, 'judge/quality/1')).toMatchObject({ kind: 'engine_down' });
  expect(await begin('judged', 1)).toMatchObject({ kind: 'granted' });
  expect(await listDownEngines(store.pool, [ENGINE])).toEqual([]);
});

const trip = (reason: 'credential' | 'billing') => ({ reason, message: 'no entry', resetMs: null });

test('CB-06 CB-11 a trip stays, blocks what has not started with rows of zero tries, and is recorded for each run that is open', async () => {
  await forget();
  await prepareRun(store.pool, 'first', { cases: 3, k: 3 });
  await prepareRun(store.pool, 'second', { cases: 2 });
  expect(await begin('first', 1)).toMatchObject({ kind: 'granted' });
  expect(await tripEngine(store.pool, AGENT, trip('credential'))).toBe(true);
  expect(await tripEngine(store.pool, AGENT, trip('credential'))).toBe(false);
  expect(await begin('second', 1)).toEqual({
    kind: 'engine_down',
    reason: 'credential',
    message: 'no entry',
    requests: 0,
  });
  // Three cases of three attempts, of which one attempt has begun.
  expect([await block('first'), await block('first')]).toEqual([8, 0]);
  expect(await listBlocked(store.pool, 'first')).toMatchObject([{ cells: 8 }]);
  const { rows } = await store.pool.query(
    `select distinct outcome, try_number, settled from attempts where run_id = 'first' and outcome is not null`,
  );
  expect(rows).toEqual([{ outcome: 'not_run', try_number: 0, settled: true }]);
  const events = await store.pool.query(
    `select run_id, kind from engine_events where run_id in ('first', 'second') and kind <> 'reset' order by id`,
  );
  expect(events.rows).toEqual([
    { run_id: 'first', kind: 'tripped' },
    { run_id: 'second', kind: 'tripped' },
    { run_id: 'first', kind: 'blocked' },
  ]);
  await noteLife(store.pool, AGENT, { runId: 'first' });
  expect(await begin('second', 2)).toMatchObject({ kind: 'engine_down' });
  await resetEngines(store.pool, { runId: 'second', engineIds: [ENGINE] });
  expect(await begin('second', 1)).toMatchObject({ kind: 'granted', probe: true });
});

test('what a run is found to call later is watched beside what it calls, and a trip of what it knew stays', async () => {
  await forget();
  await prepareRun(store.pool, 'later', { cases: 2 });
  const trips = async (engineId: string): Promise<readonly string[]> => {
    await tripEngine(store.pool, { engineId, role: 'agent' }, trip('billing'));
    const { rows } = await store.pool.query<{ run_id: string }>(
      `select run_id from engine_events where engine_id = $1 and kind = 'tripped'`,
      [engineId],
    );
    return rows.map(({ run_id: runId }) => runId);
  };
  await resetEngines(store.pool, { runId: 'later', engineIds: ['command-one'] });
  await watchEngines(store.pool, { runId: 'later', engineIds: [] });
  expect(await trips('command-one')).toEqual(['later']);
  await watchEngines(store.pool, { runId: 'later', engineIds: ['command-one', 'command-two'] });
  expect(await trips('command-two')).toEqual(['later']);
  const down = await listDownEngines(store.pool, ['command-one', 'command-two']);
  expect(down.map(({ engineId }) => engineId)).toEqual(['command-one', 'command-two']);
});

test('the fifth exhausted call in a row trips; an answer between them starts the count anew', async () => {
  await forget();
  await prepareRun(store.pool, 'outage', { cases: 2 });
  const exhaust = () => noteExhausted(store.pool, AGENT, { message: '503', resetMs: null });
  for (let call = 0; call < 4; call += 1) expect(await exhaust()).toBe(false);
  await noteLife(store.pool, AGENT, { runId: 'outage' });
  for (let call = 0; call < 4; call += 1) expect(await exhaust()).toBe(false);
  expect(await exhaust()).toBe(true);
  const held = await begin('outage', 1);
  expect(held).toMatchObject({ kind: 'wait', reason: 'engine_down' });
  // Half open: one call finds out, and its failure alone trips again, for twice as long.
  await store.pool.query(`update engine_health set half_open_at = now() where role = 'agent'`);
  expect(await begin('outage', 1)).toMatchObject({ kind: 'granted', probe: true });
  expect(await begin('outage', 2)).toMatchObject({ kind: 'wait', reason: 'probe' });
  expect(await exhaust()).toBe(true);
  const again = await begin('outage', 2);
  expect(held.kind === 'wait' && held.waitMs).toBeGreaterThan(50_000);
  expect(again.kind === 'wait' && again.waitMs).toBeGreaterThan(110_000);
});

test('a reset time that the provider gave is respected; one that is too far off stays', async () => {
  await forget();
  await prepareRun(store.pool, 'reset', { cases: 2 });
  await tripEngine(store.pool, AGENT, { ...trip('billing'), resetMs: 300_000 });
  const held = await begin('reset', 1);
  expect(held).toMatchObject({ kind: 'wait', reason: 'engine_down' });
  expect(held.kind === 'wait' && held.waitMs).toBeGreaterThan(290_000);
  await forget();
  await tripEngine(store.pool, AGENT, { ...trip('billing'), resetMs: 86_400_000 });
  expect(await begin('reset', 1)).toMatchObject({ kind: 'engine_down', reason: 'billing' });
});
