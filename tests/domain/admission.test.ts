import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AdmissionEvent, AdmissionState, CallRow, Spend } from '../../src/domain/admission-state.ts';
import { admit } from '../../src/domain/admission.ts';
import { createScope } from '../../src/domain/admission-scope.ts';

const CALLS = ['one', 'two', 'three', 'four'];
const modelOf = (call: string) => (CALLS.indexOf(call) % 2 === 0 ? 'fast' : 'slow');
/** Multiples of a power of two, so that sums of money are exact. */
const money = (units: number) => units / 64;
const worst = { usd: money(4), tokens: 40 };

const start = (caps: { run: number | null; model: number | null }): AdmissionState => ({
  stop: null,
  onExceed: 'stop',
  runId: 'run',
  pausedUntilMs: {},
  health: {},
  rates: {},
  calls: {},
  scopes: {
    ...(caps.run === null ? {} : { run: createScope({ capUsd: money(caps.run), capTokens: null }) }),
    ...(caps.model === null
      ? {}
      : {
          'model/fast': createScope({ capUsd: money(caps.model), capTokens: null }),
          'model/slow': createScope({ capUsd: null, capTokens: caps.model * 10 }),
        }),
  },
});

const begin = (call: string, nowMs = 0): AdmissionEvent => ({
  kind: 'begin',
  call,
  modelId: modelOf(call),
  engineId: 'engine',
  worst,
  maxRetries: 100,
  nowMs,
});

const spend: fc.Arbitrary<Spend> = fc.oneof(
  fc.constant<Spend>({ kind: 'none' }),
  fc.constant<Spend>({ kind: 'unknown' }),
  fc.record({
    kind: fc.constant('known' as const),
    usd: fc.option(fc.integer({ min: 0, max: 4 }).map(money)),
    tokens: fc.option(fc.integer({ min: 0, max: 40 })),
  }),
);
const call = fc.constantFrom(...CALLS);
const requestNumber = fc.integer({ min: 1, max: 4 });
const event: fc.Arbitrary<AdmissionEvent> = fc.oneof(
  { weight: 5, arbitrary: call.map((name) => begin(name)) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('complete' as const),
      call,
      requestNumber,
      spend,
      nowMs: fc.constant(0),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      call,
      requestNumber,
      spend,
      retryAtMs: fc.constant(0),
    }),
  },
  { weight: 1, arbitrary: call.map((name) => ({ kind: 'close' as const, calls: [name] })) },
);
const caps = fc.record({
  run: fc.option(fc.integer({ min: 0, max: 40 })),
  model: fc.option(fc.integer({ min: 0, max: 20 })),
});

const run = (state: AdmissionState, events: readonly AdmissionEvent[]) =>
  events.reduce((present, next) => admit(present, next).state, state);

const rowsOf = (state: AdmissionState, name: string): CallRow[] =>
  Object.values(state.calls)
    .flat()
    .filter((row) => name === 'run' || name === `model/${row.modelId}`);

const sum = (values: readonly (number | null)[]) =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);

test('C27 no interleaving of deliveries, kills and late ends passes a cap', () => {
  fc.assert(
    fc.property(caps, fc.array(event, { maxLength: 60 }), (limits, events) => {
      let state = start(limits);
      for (const next of events) {
        state = admit(state, next).state;
        for (const scope of Object.values(state.scopes)) {
          expect(scope.spentUsd + scope.reservedUsd).toBeLessThanOrEqual(scope.capUsd ?? Infinity);
          expect(scope.spentTokens + scope.reservedTokens).toBeLessThanOrEqual(scope.capTokens ?? Infinity);
        }
      }
    }),
  );
});

test('the reserve is exactly what is out, the spend exactly what was charged, and closing leaves nothing reserved', () => {
  fc.assert(
    fc.property(caps, fc.array(event, { maxLength: 60 }), (limits, events) => {
      const state = run(start(limits), events);
      for (const [name, scope] of Object.entries(state.scopes)) {
        const open = rowsOf(state, name).filter((row) => row.state === 'started');
        expect(scope.openCalls).toBe(open.length);
        expect(scope.reservedUsd).toBe(sum(open.map((row) => row.worst.usd)));
        expect(scope.spentUsd).toBe(sum(rowsOf(state, name).map((row) => row.charged?.usd ?? 0)));
        expect(scope.spentTokens).toBe(sum(rowsOf(state, name).map((row) => row.charged?.tokens ?? 0)));
      }
      const closed = admit(state, { kind: 'close', calls: CALLS }).state;
      for (const scope of Object.values(closed.scopes)) {
        expect(scope).toMatchObject({ openCalls: 0, reservedUsd: 0, reservedTokens: 0 });
      }
    }),
  );
});

test('any interleaving ends with every call answered exactly once, and an answered call is never sent again', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60 }), (events) => {
      let state = run(start({ run: 1_000_000, model: 1_000_000 }), events);
      for (const name of CALLS) {
        const { state: begun, answer } = admit(state, begin(name));
        const number = answer.kind === 'granted' ? answer.requestNumber : 0;
        state = admit(begun, {
          kind: 'complete',
          nowMs: 0,
          call: name,
          requestNumber: number,
          spend: { kind: 'none' },
        }).state;
        expect(admit(state, begin(name)).answer.kind).toBe('recorded');
        expect(state.calls[name]?.filter((row) => row.state === 'completed')).toHaveLength(1);
      }
    }),
  );
});

test('a call that waits for the reserve of others is granted or over budget once they have ended', () => {
  fc.assert(
    fc.property(caps, fc.array(event, { maxLength: 60 }), (limits, events) => {
      const state = run(start(limits), [...events, { kind: 'close', calls: CALLS }]);
      for (const name of CALLS) expect(admit(state, begin(name)).answer.kind).not.toBe('wait');
    }),
  );
});

test('a pause holds every call of the engine, a booked retry its own, and a frozen run all', () => {
  const paused = run(start({ run: null, model: null }), [{ kind: 'pause', engineId: 'engine', untilMs: 50 }]);
  expect(admit(paused, begin('one', 49)).answer).toEqual({ kind: 'wait', reason: 'engine_paused' });
  expect(admit(paused, begin('one', 50)).answer.kind).toBe('granted');
  const failed = run(start({ run: null, model: null }), [
    begin('one'),
    { kind: 'fail', call: 'one', requestNumber: 1, spend: { kind: 'none' }, retryAtMs: 9 },
  ]);
  expect(admit(failed, begin('one', 8)).answer).toEqual({ kind: 'wait', reason: 'retry' });
  expect(admit(failed, begin('one', 9)).answer).toEqual({
    kind: 'granted',
    requestNumber: 2,
    failuresSoFar: 1,
    probe: false,
  });
  const frozen = run(failed, [
    { kind: 'freeze', state: 'cancelled' },
    { kind: 'freeze', state: 'timed_out' },
  ]);
  expect(admit(frozen, begin('two')).answer).toEqual({ kind: 'stopped', reason: 'cancelled' });
});
