import type { Admission, AdmissionEvent, AdmissionState, CallRow, Spend } from './admission-state.ts';
import type { Amount, Scope } from './admission-scope.ts';
import { correct, findRefusal, reserve, settle } from './admission-scope.ts';
import { hear, noteExhausted, noteLife, releaseProbe, takeProbe, trip, type Health } from './breaker.ts';
import { correctTokens, lookStart, takeStart, type RateLine } from './rate-line.ts';

type Of<Kind extends AdmissionEvent['kind']> = Extract<AdmissionEvent, { kind: Kind }>;

/** What happens next: the state after an event, and what the one who brought it is told. */
export function admit(state: AdmissionState, event: AdmissionEvent): Admission {
  switch (event.kind) {
    case 'begin':
      return begin(state, event);
    case 'complete':
    case 'fail':
      return settleRequest(state, event);
    case 'close':
      return { state: event.calls.reduce(loseLatest, state), answer: { kind: 'done' } };
    case 'freeze':
      return { state: { ...state, stop: state.stop ?? event.state }, answer: { kind: 'done' } };
    case 'pause': {
      const untilMs = Math.max(event.untilMs, state.pausedUntilMs[event.engineId] ?? 0);
      const pausedUntilMs = { ...state.pausedUntilMs, [event.engineId]: untilMs };
      return { state: { ...state, pausedUntilMs }, answer: { kind: 'done' } };
    }
    case 'life':
      return tell(state, event.engineId, (health) => noteLife(health, event.nowMs));
    case 'trip':
      return tell(state, event.engineId, (health) => trip(health, event));
    case 'exhausted':
      return tell(state, event.engineId, (health) => noteExhausted(health, event));
    case 'release':
      return tell(state, event.engineId, (health) => releaseProbe(health, event.call));
  }
}

const tell = (state: AdmissionState, engineId: string, change: (health: Health) => Health): Admission => ({
  state: changeHealth(state, engineId, change),
  answer: { kind: 'done' },
});

function changeHealth(
  state: AdmissionState,
  engineId: string,
  change: (health: Health) => Health,
): AdmissionState {
  const health = state.health[engineId];
  return health === undefined ? state : { ...state, health: { ...state.health, [engineId]: change(health) } };
}

function begin(before: AdmissionState, event: Of<'begin'>): Admission {
  const rows = before.calls[event.call] ?? [];
  const latest = rows.at(-1);
  if (latest?.state === 'completed') {
    return { state: before, answer: { kind: 'recorded', requestNumber: rows.length } };
  }
  if (latest?.state === 'failed' && (latest.retryAtMs === null || latest.failures > event.maxRetries)) {
    return { state: before, answer: { kind: 'failed', failures: latest.failures } };
  }
  const state = loseLatest(before, event.call);
  if (state.stop !== null) return { state, answer: { kind: 'stopped', reason: state.stop } };
  const health = state.health[event.engineId];
  const heard = health === undefined ? 'go' : hear(health, event.call, event.nowMs);
  if (heard === 'down') {
    const reason = health?.trip?.reason ?? 'exhausted';
    return { state, answer: { kind: 'engine_down', reason } };
  }
  if (heard === 'wait') return { state, answer: { kind: 'wait', reason: 'engine_down' } };
  if ((state.pausedUntilMs[event.engineId] ?? 0) > event.nowMs) {
    return { state, answer: { kind: 'wait', reason: 'engine_paused' } };
  }
  if ((latest?.retryAtMs ?? 0) > event.nowMs) return { state, answer: { kind: 'wait', reason: 'retry' } };
  if (heard === 'hold') return { state, answer: { kind: 'wait', reason: 'probe' } };
  return takeReserve(state, event, latest?.failures ?? 0);
}

/** Reserves in both scopes or in neither; a scope that can never hold the call stops. */
function takeReserve(state: AdmissionState, event: Of<'begin'>, failures: number): Admission {
  const names = [['run', 'run'] as const, ['model', `model/${event.modelId}`] as const];
  for (const [scope, name] of state.onExceed === 'warn' ? [] : names) {
    const held = state.scopes[name];
    const refusal = held === undefined ? null : findRefusal(held, event.worst);
    if (held === undefined || refusal === null) continue;
    if (refusal.kind === 'wait') return { state, answer: { kind: 'wait', reason: 'reservation' } };
    const { cap, needed, unit } = refusal;
    const stopped: AdmissionState =
      scope === 'run'
        ? { ...state, stop: state.stop ?? 'stopped_budget' }
        : { ...state, scopes: { ...state.scopes, [name]: { ...held, stopped: true } } };
    return { state: stopped, answer: { kind: 'over_budget', scope, cap, needed, unit } };
  }
  return takeRate(
    changeScopes(state, event.modelId, (held) => reserve(held, event.worst)),
    event,
    failures,
  );
}

/** Starts in the line of the engine's rates, or gives back what is reserved and waits. */
function takeRate(reserved: AdmissionState, event: Of<'begin'>, failures: number): Admission {
  const { engineId, call, worst, nowMs } = event;
  const rate = reserved.rates[engineId];
  if (rate === undefined) return grant(reserved, event, { failures, rateTokens: null });
  const asking = { call, runId: reserved.runId, worstTokens: worst.tokens, nowMs };
  const place = lookStart(rate.line, rate.limits, asking);
  if (place.kind === 'wait') {
    const given = changeScopes(reserved, event.modelId, (held) => settle(held, worst, NOTHING));
    return {
      state: replaceLine(given, engineId, place.line),
      answer: { kind: 'wait', reason: 'rate' },
    };
  }
  const { tokens } = place;
  const line = takeStart(rate.line, rate.limits, { ...asking, tokens });
  const rateTokens = rate.limits.tokensPerMinute === null ? null : tokens;
  return grant(replaceLine(reserved, engineId, line), event, { failures, rateTokens });
}

function grant(
  state: AdmissionState,
  event: Of<'begin'>,
  { failures, rateTokens }: Pick<CallRow, 'failures' | 'rateTokens'>,
): Admission {
  const rows = state.calls[event.call] ?? [];
  const { modelId, engineId, worst, call, nowMs } = event;
  const health = state.health[engineId];
  const probe = health !== undefined && hear(health, call, nowMs) === 'probe';
  const row: CallRow = {
    state: 'started',
    modelId,
    engineId,
    worst,
    rateTokens,
    charged: null,
    failures,
    retryAtMs: null,
  };
  const begun = { ...state, calls: { ...state.calls, [call]: [...rows, row] } };
  return {
    state: probe ? changeHealth(begun, engineId, (known) => takeProbe(known, call, nowMs)) : begun,
    answer: { kind: 'granted', requestNumber: rows.length + 1, failuresSoFar: failures, probe },
  };
}

function settleRequest(state: AdmissionState, event: Of<'complete'> | Of<'fail'>): Admission {
  const row = state.calls[event.call]?.[event.requestNumber - 1];
  const end = event.kind === 'complete' ? 'completed' : 'failed';
  if (row === undefined) return { state, answer: { kind: 'unknown_request' } };
  if (row.state === 'started') {
    const charged = toCharge(event.spend, row.worst);
    const ended: CallRow = {
      ...row,
      state: end,
      charged,
      failures: row.failures + (end === 'failed' ? 1 : 0),
      retryAtMs: event.kind === 'fail' ? event.retryAtMs : null,
    };
    const settled = changeScopes(state, row.modelId, (held) => settle(held, row.worst, charged));
    const corrected = correctRate(replaceRow(settled, event, ended), row, event);
    const known =
      event.kind === 'complete'
        ? changeHealth(corrected, row.engineId, (health) => noteLife(health, event.nowMs))
        : corrected;
    return { state: known, answer: { kind: 'settled' } };
  }
  if (row.state === end) return { state, answer: { kind: 'repeated' } };
  if (row.state !== 'lost' || event.spend.kind === 'unknown') return { state, answer: { kind: 'late' } };
  const before = row.charged ?? row.worst;
  const after = toCharge(event.spend, before);
  const corrected = changeScopes(state, row.modelId, (held) => correct(held, before, after));
  return {
    state: replaceRow(corrected, event, { ...row, state: 'late', charged: after }),
    answer: { kind: 'late' },
  };
}

/** The tokens that a request really used take the place of those that were taken for it; unknown ones do not. */
function correctRate(
  state: AdmissionState,
  row: CallRow,
  event: Of<'complete'> | Of<'fail'>,
): AdmissionState {
  const rate = state.rates[row.engineId];
  const { spend } = event;
  const used = spend.kind === 'none' ? 0 : spend.kind === 'known' ? spend.tokens : null;
  if (rate === undefined || row.rateTokens === null || used === null) return state;
  const real = { taken: row.rateTokens, used, worst: row.worst.tokens, answered: event.kind === 'complete' };
  return replaceLine(state, row.engineId, correctTokens(rate.line, rate.limits, real));
}

function replaceLine(state: AdmissionState, engineId: string, line: RateLine): AdmissionState {
  const rate = state.rates[engineId];
  return rate === undefined ? state : { ...state, rates: { ...state.rates, [engineId]: { ...rate, line } } };
}

const NOTHING: Amount = { usd: 0, tokens: 0 };

/** What is known, else the worst case. */
function toCharge(spend: Spend, worst: Amount): Amount {
  if (spend.kind === 'none') return NOTHING;
  if (spend.kind === 'unknown') return worst;
  return { usd: spend.usd ?? worst.usd, tokens: spend.tokens ?? worst.tokens };
}

/** A request that is still out while its call is asked for again, or its attempt recorded, is lost. */
function loseLatest(state: AdmissionState, call: string): AdmissionState {
  const rows = state.calls[call] ?? [];
  const row = rows.at(-1);
  if (row?.state !== 'started') return state;
  const settled = changeScopes(state, row.modelId, (held) => settle(held, row.worst, row.worst));
  return replaceRow(
    settled,
    { call, requestNumber: rows.length },
    { ...row, state: 'lost', charged: row.worst },
  );
}

function changeScopes(
  state: AdmissionState,
  modelId: string,
  change: (scope: Scope) => Scope,
): AdmissionState {
  const scopes = { ...state.scopes };
  for (const name of ['run', `model/${modelId}`]) {
    const held = scopes[name];
    if (held !== undefined) scopes[name] = change(held);
  }
  return { ...state, scopes };
}

function replaceRow(
  state: AdmissionState,
  { call, requestNumber }: { readonly call: string; readonly requestNumber: number },
  row: CallRow,
): AdmissionState {
  const rows = (state.calls[call] ?? []).with(requestNumber - 1, row);
  return { ...state, calls: { ...state.calls, [call]: rows } };
}
