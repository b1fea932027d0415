/**
 * The line in which the requests of one engine wait for its rates, over all workers and runs: the rules of
 * `look_start`, `take_start` and `correct_tokens` in `store/`, without a database. A virtual scheduler with one place after
 * another (GCRA, ITU-T I.371, with a tolerance of 0): a start holds the line for its share of the minute. Times are
 * milliseconds since 1970.
 */
export type RateLine = {
  readonly requestsAtMs: number;
  readonly tokensAtMs: number;
  /** Mean of real tokens / bound: what of the bound is taken before the answer. */
  readonly tokenShare: number;
  readonly tokenSamples: number;
  readonly runs: { readonly [runId: string]: RunClocks };
  readonly bookings: { readonly [call: string]: Booking };
};

/** Until when the places that a run has taken last, and when the next of its calls is to come back. */
export type RunClocks = { readonly takenMs: number; readonly nextMs: number };

/** A call that waits; `paid` = its place is taken: it starts then, whoever else comes. */
export type Booking = { readonly startMs: number; readonly paid: boolean; readonly tokens: number };

/** Null = no such limit. */
export type Rates = { readonly requestsPerMinute: number | null; readonly tokensPerMinute: number | null };

export type Asking = {
  readonly call: string;
  readonly runId: string;
  readonly worstTokens: number;
  readonly nowMs: number;
};

export type Place =
  | { readonly kind: 'start'; readonly tokens: number }
  | { readonly kind: 'wait'; readonly startMs: number; readonly line: RateLine };

/** How late a booked start may be; after that its place is gone. */
const LATEST_MS = 1_500;
/** How far ahead places are handed out; who comes behind has none yet and waits for its run's turn. */
const HORIZON_MS = 3_000;
/** 60 s, what a start may be late, and half a second on the way: no 60 s hold more than the limit. */
const MINUTE_MS = 62_000;

const NO_CLOCKS: RunClocks = { takenMs: 0, nextMs: 0 };

export const EMPTY_LINE: RateLine = {
  requestsAtMs: 0,
  tokensAtMs: 0,
  tokenShare: 1,
  tokenSamples: 0,
  runs: {},
  bookings: {},
};

/** Whether a call may start now, or for when it has booked its start. Nothing is taken by a start: `takeStart`. */
export function lookStart(line: RateLine, rates: Rates, asking: Asking): Place {
  const { call, runId, nowMs } = asking;
  const found = line.bookings[call];
  if (found?.paid === true && found.startMs > nowMs) return { kind: 'wait', startMs: found.startMs, line };
  if (isInTime(found, nowMs)) return { kind: 'start', tokens: found.tokens };
  const booking = found?.paid === false ? found : undefined;
  const tokens = Math.ceil(asking.worstTokens * line.tokenShare);
  const freeMs = Math.max(line.requestsAtMs, line.tokensAtMs);
  if (freeMs <= nowMs) return { kind: 'start', tokens };

  const hold = holdMs(rates, tokens);
  const horizon = nowMs + HORIZON_MS + hold;
  const own = line.runs[runId] ?? NO_CLOCKS;
  const clock = { runId, nowMs, hold };
  if (freeMs <= horizon && own.takenMs <= horizon && (booking?.startMs ?? 0) <= nowMs) {
    const held = holdLine(line, rates, { fromMs: freeMs, tokens });
    const moved = moveClock(held, { ...clock, which: 'takenMs', fromMs: Math.max(own.takenMs, nowMs) });
    return book(moved, call, { startMs: freeMs, paid: true, tokens });
  }
  if (booking !== undefined && booking.startMs > nowMs) return book(line, call, { ...booking, tokens });
  if (own.takenMs <= horizon) {
    // Others fill the line; that this run waits, too, lets them take less.
    const startMs = nowMs + freeMs - horizon;
    const clocks = { ...own, nextMs: Math.max(own.nextMs, startMs + hold) };
    const waiting = { ...line, runs: { ...line.runs, [runId]: clocks } };
    return book(waiting, call, { startMs, paid: false, tokens });
  }
  // The run has had its share for now.
  const startMs = Math.max(own.nextMs, nowMs + own.takenMs - horizon);
  const moved = moveClock(line, { ...clock, which: 'nextMs', fromMs: startMs });
  return book(moved, call, { startMs, paid: false, tokens });
}

/** Takes what `lookStart` has allowed. */
export function takeStart(
  line: RateLine,
  rates: Rates,
  start: Asking & { readonly tokens: number },
): RateLine {
  const { [start.call]: booking, ...bookings } = line.bookings;
  const left = { ...line, bookings };
  if (isInTime(booking, start.nowMs)) return left;
  const held = holdLine(left, rates, { fromMs: start.nowMs, tokens: start.tokens });
  const { runId, nowMs } = start;
  const fromMs = Math.max(line.runs[runId]?.takenMs ?? 0, nowMs);
  return moveClock(held, { runId, nowMs, hold: holdMs(rates, start.tokens), which: 'takenMs', fromMs });
}

/** Replaces the tokens that were taken before a request by those that it really used. */
export function correctTokens(
  line: RateLine,
  { tokensPerMinute }: Rates,
  real: {
    readonly taken: number;
    readonly used: number;
    readonly worst: number;
    /** Only answers say something about the next ones. */
    readonly answered: boolean;
  },
): RateLine {
  const { used, taken, answered } = real;
  const tokensAtMs = line.tokensAtMs + tokenMs(used, tokensPerMinute) - tokenMs(taken, tokensPerMinute);
  if (!answered) return { ...line, tokensAtMs };
  const share = Math.min(10, used / Math.max(1, real.worst));
  const weight = Math.max(1 / (line.tokenSamples + 1), 0.05);
  const tokenShare = line.tokenShare + (share - line.tokenShare) * weight;
  return { ...line, tokensAtMs, tokenShare, tokenSamples: line.tokenSamples + 1 };
}

const isInTime = (
  booking: Booking | undefined,
  nowMs: number,
): booking is Booking & { readonly paid: true } =>
  booking?.paid === true && booking.startMs > nowMs - LATEST_MS;

const requestMs = (perMinute: number | null): number => (perMinute === null ? 0 : MINUTE_MS / perMinute);

/** A request that is a large part of the limit leaves room for the next one of its size. */
const tokenMs = (tokens: number, perMinute: number | null): number =>
  perMinute === null
    ? 0
    : MINUTE_MS * Math.min(tokens / Math.max(perMinute - tokens, 1), Math.max(1, tokens / perMinute));

const holdMs = ({ requestsPerMinute, tokensPerMinute }: Rates, tokens: number): number =>
  Math.max(requestMs(requestsPerMinute), tokenMs(tokens, tokensPerMinute));

const holdLine = (
  line: RateLine,
  { requestsPerMinute, tokensPerMinute }: Rates,
  { fromMs, tokens }: { readonly fromMs: number; readonly tokens: number },
): RateLine => ({
  ...line,
  requestsAtMs: fromMs + requestMs(requestsPerMinute),
  tokensAtMs: fromMs + tokenMs(tokens, tokensPerMinute),
});

/** A run that shares the engine with n - 1 others takes every n-th place. */
function moveClock(
  line: RateLine,
  move: {
    readonly runId: string;
    readonly which: keyof RunClocks;
    readonly nowMs: number;
    readonly fromMs: number;
    readonly hold: number;
  },
): RateLine {
  const { runId, which, nowMs, fromMs, hold } = move;
  const others = Object.entries(line.runs).filter(
    ([id, { takenMs, nextMs }]) => id !== runId && Math.max(takenMs, nextMs) > nowMs,
  );
  const clocks = { ...(line.runs[runId] ?? NO_CLOCKS), [which]: fromMs + hold * (1 + others.length) };
  return { ...line, runs: { ...line.runs, [runId]: clocks } };
}

const book = (line: RateLine, call: string, booking: Booking): Place => ({
  kind: 'wait',
  startMs: booking.startMs,
  line: { ...line, bookings: { ...line.bookings, [call]: booking } },
});
