import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdmissionAnswer, AdmissionEvent, AdmissionState, Spend } from '../../src/domain/admission.ts';
import { admit } from '../../src/domain/admission.ts';
import { createScope } from '../../src/domain/admission-scope.ts';
import { EMPTY_LINE } from '../../src/domain/rate-line.ts';
import type { CallKey } from '../../src/domain/ids.ts';
import { UNKNOWN_USAGE } from '../../src/domain/usage.ts';
import { pauseEngine, saveEngines } from '../../src/store/engines.ts';
import { beginCall, completeCall, failCall } from '../../src/store/model-calls.ts';
import { freezeRun } from '../../src/store/runs.ts';
import { addOther, expectSameLine, letPass, loadLine } from './rate-line-rows.ts';
import { attemptKey, callKey, mockEngine, openTestStore, prepareRun, recordOne } from './support.ts';

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
const event: fc.Arbitrary<AdmissionEvent | RateEvent> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(900, 4_000, 16_000) }),
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
    arbitrary: fc.record({ kind: fc.constant('complete' as const), call, requestNumber, spend: completion }),
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
);
const setting = fc.record({
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
  { maxRunUsd, maxRunTokens, maxModelUsd, onExceed, rates }: Setting,
): AdmissionState {
  const hasRun = maxRunUsd !== null || maxRunTokens !== null;
  const model = createScope({ capUsd: maxModelUsd, capTokens: null });
  return {
    stop: null,
    onExceed,
    runId,
    pausedUntilMs: {},
    rates: rates === null ? {} : { [runId]: { limits: rates, line: EMPTY_LINE } },
    calls: {},
    scopes: {
      ...(hasRun ? { run: createScope({ capUsd: maxRunUsd, capTokens: maxRunTokens }) } : {}),
      ...(maxModelUsd === null ? {} : { 'model/fast': model, 'model/slow': model }),
    },
  };
}

const keyOf = (runId: string, name: string): CallKey => callKey(attemptKey(runId, Number(name)));

/** Does to Postgres what the event says and puts the answer in the model's form. */
async function apply(runId: string, event: AdmissionEvent): Promise<AdmissionAnswer> {
  switch (event.kind) {
    case 'begin':
      return begin(runId, event);
    case 'complete':
    case 'fail':
      return settle(runId, event);
    case 'close':
      for (const name of event.calls) await close(runId, name);
      return { kind: 'done' };
    case 'freeze':
      await freezeRun(store.pool, { runId, state: event.state, reason: 'asked' });
      return { kind: 'done' };
    case 'pause':
      await pauseEngine(store.pool, { engineId: runId, pauseMs: event.untilMs, reason: 'asked' });
      return { kind: 'done' };
  }
}

async function begin(
  runId: string,
  event: Extract<AdmissionEvent, { kind: 'begin' }>,
): Promise<AdmissionAnswer> {
  const answer = await beginCall(store.pool, {
    key: keyOf(runId, event.call),
    modelId: event.modelId,
    engineId: runId,
    worstTokens: event.worst.tokens,
    worstUsd: event.worst.usd,
    maxRetries: event.maxRetries,
  });
  if (answer.kind === 'recorded') return { kind: 'recorded', requestNumber: answer.requestNumber };
  if (answer.kind === 'failed') return { kind: 'failed', failures: answer.failures };
  if (answer.kind === 'wait') return { kind: 'wait', reason: answer.reason };
  return answer as AdmissionAnswer;
}

async function settle(
  runId: string,
  event: Extract<AdmissionEvent, { kind: 'complete' | 'fail' }>,
): Promise<AdmissionAnswer> {
  const base = { key: keyOf(runId, event.call), requestNumber: event.requestNumber, latencyMs: 1 };
  const known = event.spend.kind === 'known' ? event.spend : { usd: null, tokens: null };
  const usage = { ...UNKNOWN_USAGE, inputTokens: known.tokens };
  try {
    if (event.kind === 'fail') {
      const spent =
        event.spend.kind === 'known' ? { kind: 'known' as const, usage, costUsd: known.usd } : event.spend;
      const ended = {
        ...base,
        class: 'server',
        message: '',
        spend: spent,
        retryInMs: event.retryAtMs,
      } as const;
      return { kind: await failCall(store.pool, ended) };
    }
    const message = { role: 'assistant', text: '', reasoning: null, toolCalls: [] } as const;
    const answer = { ...base, message, sequence: null, finishReason: 'stop', notes: [] } as const;
    return { kind: (await completeCall(store.pool, { ...answer, usage, costUsd: known.usd })).settled };
  } catch (error) {
    if (String(error).includes('was never begun')) return { kind: 'unknown_request' };
    throw error;
  }
}

const close = (runId: string, name: string) =>
  recordOne(store.pool, {
    key: attemptKey(runId, Number(name)),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 1, pass: true, limit: null },
    scores: [],
    answerDigest: null,
    answerPreview: null,
  });

async function loadScopes(runId: string): Promise<AdmissionState['scopes']> {
  const { rows } = await store.pool.query(
    `select scope, cap_usd as "capUsd", cap_tokens as "capTokens", spent_usd as "spentUsd",
      spent_tokens as "spentTokens", reserved_usd as "reservedUsd", reserved_tokens as "reservedTokens",
      open_calls as "openCalls", exceeded_at is not null as exceeded, stop_reason is not null as stopped
     from reservations where run_id = $1`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ scope, ...rest }) => [scope, rest]));
}

/** The model's event in the time of the model: that of the machine and what has been let pass. */
function inTime(event: AdmissionEvent, { runId, nowMs }: { runId: string; nowMs: number }): AdmissionEvent {
  if (event.kind === 'begin') return { ...event, engineId: runId, nowMs };
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

test('Postgres answers every sequence of deliveries, ends, kills, pauses, rates and stops as the pure model does', async () => {
  let number = 0;
  let ratesMet = 0;
  await fc.assert(
    fc.asyncProperty(setting, fc.array(event, { minLength: 5, maxLength: 30 }), async (budgets, events) => {
      const runId = `model-${(number += 1)}`;
      const { rates, ...rest } = budgets;
      await prepareRun(store.pool, runId, { cases: 2, models: ['fast', 'slow'], budgets: rest });
      await saveEngines(store.pool, [mockEngine(runId, rates ?? {})]);
      let model = startModel(runId, budgets);
      let passedMs = 0;
      const closed = new Set<string>();
      for (const asked of events) {
        const nowMs = Date.now() + passedMs;
        if (asked.kind === 'pass') {
          passedMs += asked.ms;
          await letPass(store.pool, { engineId: runId, ms: asked.ms });
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
        expect(await apply(runId, asked)).toEqual(answer);
        if (answer.kind === 'wait' && answer.reason === 'rate') ratesMet += 1;
        model = state;
      }
      expect(await loadScopes(runId)).toEqual(model.scopes);
      const line = model.rates[runId]?.line;
      if (line === undefined) return;
      expectSameLine(await loadLine(store.pool, { engineId: runId, passedMs }), line);
    }),
    { numRuns: 40 },
  );
  expect(ratesMet).toBeGreaterThan(10);
});
