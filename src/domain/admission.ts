import type { Amount, Refusal, Scope } from './admission-scope.ts';
import { correct, findRefusal, reserve, settle } from './admission-scope.ts';
import type { TerminalState } from './outcome.ts';
import { correctTokens, lookStart, takeStart, type RateLine, type Rates } from './rate-line.ts';

/**
 * The rules of `beginCall` in `store/` and of what settles a call, without a database: property tests compare
 * the two (SPEC 7, "Write-ahead and admission in one statement"; SPEC 11, "Budgets").
 */
export type AdmissionState = {
  readonly runId: string;
  /** How the run is frozen, or null. */
  readonly stop: TerminalState | null;
  readonly onExceed: 'stop' | 'warn';
  /** `run`, and `model/` with the model's id: only where a cap is set. */
  readonly scopes: { readonly [name: string]: Scope };
  readonly pausedUntilMs: { readonly [engineId: string]: number };
  /** Only engines with a limit on requests or tokens a minute. */
  readonly rates: { readonly [engineId: string]: EngineRate };
  /** Requests of each call, in order; the name is the call's key. */
  readonly calls: { readonly [name: string]: readonly CallRow[] };
};

export type EngineRate = { readonly limits: Rates; readonly line: RateLine };

/** One request that was sent or may have been. */
export type CallRow = {
  readonly state: 'started' | 'completed' | 'failed' | 'lost' | 'late';
  readonly modelId: string;
  readonly engineId: string;
  readonly worst: Amount;
  /** Tokens taken from the engine's tokens a minute; null = no such limit. */
  readonly rateTokens: number | null;
  readonly charged: Amount | null;
  readonly failures: number;
  /** A failed row without it is final. */
  readonly retryAtMs: number | null;
};

/** What a request has cost; null = the provider did not say. */
export type Spend =
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'known'; readonly usd: number | null; readonly tokens: number | null };

export type AdmissionEvent =
  | {
      readonly kind: 'begin';
      readonly call: string;
      readonly modelId: string;
      readonly engineId: string;
      readonly worst: Amount;
      readonly maxRetries: number;
      readonly nowMs: number;
    }
  | {
      readonly kind: 'complete';
      readonly call: string;
      readonly requestNumber: number;
      readonly spend: Spend;
    }
  | {
      readonly kind: 'fail';
      readonly call: string;
      readonly requestNumber: number;
      readonly spend: Spend;
      readonly retryAtMs: number | null;
    }
  /** The attempt that these calls belong to was recorded. */
  | { readonly kind: 'close'; readonly calls: readonly string[] }
  | { readonly kind: 'freeze'; readonly state: TerminalState }
  | { readonly kind: 'pause'; readonly engineId: string; readonly untilMs: number };

export type AdmissionAnswer =
  | { readonly kind: 'granted'; readonly requestNumber: number; readonly failuresSoFar: number }
  | { readonly kind: 'recorded'; readonly requestNumber: number }
  | { readonly kind: 'failed'; readonly failures: number }
  | { readonly kind: 'stopped'; readonly reason: TerminalState }
  | ({ readonly kind: 'over_budget'; readonly scope: 'run' | 'model' } & Omit<Refusal, 'kind'>)
  | { readonly kind: 'wait'; readonly reason: 'reservation' | 'engine_paused' | 'retry' | 'rate' }
  | { readonly kind: 'settled' | 'repeated' | 'late' | 'unknown_request' }
  | { readonly kind: 'done' };

export type Admission = { readonly state: AdmissionState; readonly answer: AdmissionAnswer };

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
  }
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
  if ((state.pausedUntilMs[event.engineId] ?? 0) > event.nowMs) {
    return { state, answer: { kind: 'wait', reason: 'engine_paused' } };
  }
  if ((latest?.retryAtMs ?? 0) > event.nowMs) return { state, answer: { kind: 'wait', reason: 'retry' } };
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
  const { modelId, engineId, worst } = event;
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
  return {
    state: { ...state, calls: { ...state.calls, [event.call]: [...rows, row] } },
    answer: { kind: 'granted', requestNumber: rows.length + 1, failuresSoFar: failures },
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
    return { state: correctRate(replaceRow(settled, event, ended), row, event), answer: { kind: 'settled' } };
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
