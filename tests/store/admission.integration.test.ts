import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdmissionEvent, AdmissionState, Spend } from '../../src/domain/admission-state.ts';
import { admit } from '../../src/domain/admission.ts';
import { createScope } from '../../src/domain/admission-scope.ts';
import { noteLife as noteLifeOf, UNKNOWN_HEALTH } from '../../src/domain/breaker.ts';
import { EMPTY_LINE } from '../../src/domain/rate-line.ts';
import { noteLife } from '../../src/store/engine-health.ts';
import { saveEngines } from '../../src/store/engines.ts';
import { applyEvent, loadScopes } from './admission-rows.ts';
import { expectSameHealth, letHealthPass } from './health-rows.ts';
import { addOther, expectSameLine, letPass, loadLine } from './rate-line-rows.ts';
import { mockEngine, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const CALLS = ['1', '2', '3', '4'];
const modelOf = (call: string) => (Number(call) % 2 === 1 ? 'fast' : 'slow');
const money = (units: number) => units / 64;
const NEVER = 1e9;

const call = fc.constantFrom(...CALLS);
const requestNumber = fc.integer({ min: 1, max: 3 });
const amount = fc.record({
  usd: fc.option(fc.integer({ max: 8, min: 0 }).map(money)),
  tokens: fc.nat({ max: 40 }),
});
const spend: fc.Arbitrary<Spend> = fc.oneof(
  fc.constant<Spend>({ kind: 'none' }),
  fc.constant<Spend>({ kind: 'unknown' }),
  amount.map((known) => ({ kind: 'known' as const, ...known })),
);
const completion: fc.Arbitrary<Spend> = fc
  .record({
    usd: fc.option(fc.integer({ max: 8, min: 0 }).map(money)),
    tokens: fc.option(fc.nat({ max: 40 })),
  })
  .map((known) => ({ kind: 'known' as const, ...known }));
/** Time that passes, and another run that books places of the same engine. */
type RateEvent =
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'other'; readonly aheadMs: number };
const resetMs = fc.constantFrom(null, null, 30_000, 2_000_000);
const event: fc.Arbitrary<AdmissionEvent | RateEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      ms: fc.constantFrom(900, 4_000, 16_000, 50_000),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'other' as const, aheadMs: 40_000 }) },
  {
    weight: 10,
    arbitrary: fc.record({ call, worst: amount }).map((one) => ({
      kind: 'begin' as const,
      ...one,
      modelId: modelOf(one.call),
      engineId: '',
      maxRetries: 1,
      nowMs: 0,
    })),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('complete' as const),
      call,
      requestNumber,
      spend: completion,
      nowMs: fc.constant(0),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      call,
      requestNumber,
      spend,
      retryAtMs: fc.constantFrom(null, 0, 0, NEVER),
    }),
  },
  { weight: 1, arbitrary: call.map((name) => ({ kind: 'close' as const, calls: [name] })) },
  { weight: 1, arbitrary: fc.constant({ kind: 'freeze' as const, state: 'cancelled' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'pause' as const, engineId: '', untilMs: NEVER }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'life' as const, engineId: '', nowMs: 0 }) },
  { weight: 1, arbitrary: call.map((name) => ({ kind: 'release' as const, engineId: '', call: name })) },
  {
    weight: 3,
    arbitrary: resetMs.map((known) => ({
      kind: 'exhausted' as const,
      engineId: '',
      resetMs: known,
      nowMs: 0,
    })),
  },
  {
    weight: 1,
    arbitrary: resetMs.map((known) => ({
      kind: 'trip' as const,
      engineId: '',
      reason: 'billing' as const,
      stays: true,
      resetMs: known,
      nowMs: 0,
    })),
  },
);
const setting = fc.record({
  isAlive: fc.constantFrom(true, true, false),
  maxRunUsd: fc.option(fc.integer({ min: 0, max: 24 }).map(money)),
  maxModelUsd: fc.option(fc.integer({ min: 0, max: 16 }).map(money)),
  maxRunTokens: fc.option(fc.nat({ max: 200 })),
  onExceed: fc.constantFrom('stop' as const, 'stop' as const, 'warn' as const),
  rates: fc.constantFrom(
    null,
    { requestsPerMinute: 4, tokensPerMinute: null },
    { requestsPerMinute: null, tokensPerMinute: 100 },
    { requestsPerMinute: 20, tokensPerMinute: 300 },
  ),
});
type Setting = typeof setting extends fc.Arbitrary<infer Value> ? Value : never;

function startModel(
  runId: string,
  { maxRunUsd, maxRunTokens, maxModelUsd, onExceed, rates, isAlive }: Setting,
): AdmissionState {
  const hasRun = maxRunUsd !== null || maxRunTokens !== null;
  const model = createScope({ capUsd: maxModelUsd, capTokens: null });
  return {
    stop: null,
    onExceed,
    runId,
    pausedUntilMs: {},
    health: { [runId]: isAlive ? noteLifeOf(UNKNOWN_HEALTH, Date.now()) : UNKNOWN_HEALTH },
    rates: rates === null ? {} : { [runId]: { limits: rates, line: EMPTY_LINE } },
    calls: {},
    scopes: {
      ...(hasRun ? { run: createScope({ capUsd: maxRunUsd, capTokens: maxRunTokens }) } : {}),
      ...(maxModelUsd === null ? {} : { 'model/fast': model, 'model/slow': model }),
    },
  };
}

/** The model's event in the time of the model: that of the machine and what has been let pass. */
function inTime(event: AdmissionEvent, { runId, nowMs }: { runId: string; nowMs: number }): AdmissionEvent {
  if (event.kind === 'begin') return { ...event, engineId: runId, nowMs };
  if (event.kind === 'complete') return { ...event, nowMs };
  if (event.kind === 'release') return { ...event, engineId: runId };
  if (event.kind === 'life' || event.kind === 'trip' || event.kind === 'exhausted')
    return { ...event, engineId: runId, nowMs };
  if (event.kind === 'pause') return { ...event, engineId: runId, untilMs: nowMs + NEVER };
  if (event.kind === 'fail' && event.retryAtMs === NEVER) return { ...event, retryAtMs: nowMs + NEVER };
  return event;
}

function withOther(model: AdmissionState, engineId: string, nextMs: number): AdmissionState {
  const rate = model.rates[engineId];
  if (rate === undefined) return model;
  const line = { ...rate.line, runs: { ...rate.line.runs, other: { takenMs: nextMs, nextMs } } };
  return { ...model, rates: { ...model.rates, [engineId]: { ...rate, line } } };
}

/** Whether an answer would be another one a moment later: then the test does not ask. */
function isOnTheEdge(model: AdmissionState, event: Extract<AdmissionEvent, { kind: 'begin' }>): boolean {
  const look = (laterMs: number): string => {
    const { state, answer } = admit(model, { ...event, nowMs: event.nowMs + laterMs });
    const bookings = Object.values(state.rates).map(({ line }) =>
      Object.entries(line.bookings).map(([call, { paid }]) => [call, paid]),
    );
    return JSON.stringify([answer, bookings]);
  };
  return look(0) !== look(200);
}

test('Postgres answers every sequence of deliveries, ends, kills, pauses, rates, trips and stops as the pure model does', async () => {
  let number = 0;
  let ratesMet = 0;
  let tripsMet = 0;
  await fc.assert(
    fc.asyncProperty(setting, fc.array(event, { minLength: 5, maxLength: 30 }), async (budgets, events) => {
      const runId = `model-${(number += 1)}`;
      const { rates, isAlive, ...rest } = budgets;
      await prepareRun(store.pool, runId, { cases: 2, models: ['fast', 'slow'], budgets: rest });
      await saveEngines(store.pool, [mockEngine(runId, rates ?? {})]);
      if (isAlive) await noteLife(store.pool, { engineId: runId, role: 'agent' }, { runId });
      let model = startModel(runId, budgets);
      let passedMs = 0;
      const closed = new Set<string>();
      for (const asked of events) {
        const nowMs = Date.now() + passedMs;
        if (asked.kind === 'pass') {
          passedMs += asked.ms;
          await letPass(store.pool, { engineId: runId, ms: asked.ms });
          await letHealthPass(store.pool, { engineId: runId, ms: asked.ms });
          continue;
        }
        if (asked.kind === 'other') {
          await addOther(store.pool, { engineId: runId, nextMs: Date.now() + asked.aheadMs });
          model = withOther(model, runId, nowMs + asked.aheadMs);
          continue;
        }
        const next = inTime(asked, { runId, nowMs });
        // A recorded attempt asks for nothing any more.
        if (next.kind === 'begin' && (closed.has(next.call) || isOnTheEdge(model, next))) continue;
        if (next.kind === 'close') for (const name of next.calls) closed.add(name);
        const { state, answer } = admit(model, next);
        expect(await applyEvent(store.pool, runId, asked)).toEqual(answer);
        if (answer.kind === 'wait' && answer.reason === 'rate') ratesMet += 1;
        if (answer.kind === 'engine_down' || (answer.kind === 'wait' && answer.reason === 'engine_down'))
          tripsMet += 1;
        model = state;
      }
      expect(await loadScopes(store.pool, runId)).toEqual(model.scopes);
      const health = model.health[runId] ?? UNKNOWN_HEALTH;
      await expectSameHealth(store.pool, { engineId: runId, passedMs }, health);
      const line = model.rates[runId]?.line;
      if (line === undefined) return;
      expectSameLine(await loadLine(store.pool, { engineId: runId, passedMs }), line);
    }),
    { numRuns: 40 },
  );
  expect(ratesMet).toBeGreaterThan(0);
  expect(tripsMet).toBeGreaterThan(0);
});
