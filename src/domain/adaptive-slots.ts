/** How many calls of one engine a worker has in flight, as the provider bears them. */
export type SlotState = {
  readonly limit: number;
  /** Milliseconds since 1970; null = never. */
  readonly changedAtMs: number | null;
  readonly cutAtMs: number | null;
  readonly throttledAtMs: number | null;
};

export type SlotEvent =
  /** A request was answered with 429. */
  | { readonly kind: 'throttled'; readonly atMs: number }
  /** A look now and then: the most slots that were used at once since the last one. */
  | { readonly kind: 'look'; readonly atMs: number; readonly peakUsed: number };

export type SlotChange = { readonly from: number; readonly to: number; readonly reason: string };

/** How fast the number of slots moves; in milliseconds. */
export type SlotPace = {
  readonly lookEveryMs: number;
  /** At most one cut in this time, and no growth so soon after a cut. */
  readonly cutEveryMs: number;
  /** Growth waits until nothing was throttled for so long. */
  readonly quietMs: number;
  /** Steps of growth near the number that was too much lie so far apart. */
  readonly slowEveryMs: number;
  /** After so long without throttling, growth is fast again: what was too much then may be none now. */
  readonly forgetMs: number;
  /** A slot whose request was throttled is not handed out again for so long. */
  readonly restMs: number;
};

export const SLOT_PACE: SlotPace = {
  lookEveryMs: 2_000,
  cutEveryMs: 15_000,
  quietMs: 10_000,
  slowEveryMs: 5_000,
  forgetMs: 60_000,
  restMs: 3_000,
};

const START = 20;
const LEAST = 1;
const MOST = 100;
const CUT = 0.8;

export const START_SLOTS: SlotState = {
  limit: START,
  changedAtMs: null,
  cutAtMs: null,
  throttledAtMs: null,
};

/**
 * Decides about the number of slots: additive increase, multiplicative decrease (Chiu and Jain 1989), with growth
 * by a quarter as long as nothing has been throttled lately. Null change = it stays.
 */
export function adaptSlots(
  state: SlotState,
  event: SlotEvent,
  pace: SlotPace = SLOT_PACE,
): { readonly state: SlotState; readonly change: SlotChange | null } {
  return event.kind === 'throttled' ? cut(state, event.atMs, pace) : grow(state, event, pace);
}

function cut(state: SlotState, atMs: number, pace: SlotPace): ReturnType<typeof adaptSlots> {
  const throttled = { ...state, throttledAtMs: atMs };
  if (since(state.cutAtMs, atMs) < pace.cutEveryMs) return { state: throttled, change: null };
  const to = Math.max(LEAST, Math.floor(state.limit * CUT));
  if (to === state.limit) return { state: throttled, change: null };
  return {
    state: { limit: to, changedAtMs: atMs, cutAtMs: atMs, throttledAtMs: atMs },
    change: { from: state.limit, to, reason: 'the provider throttles (429)' },
  };
}

function grow(
  state: SlotState,
  { atMs, peakUsed }: Extract<SlotEvent, { kind: 'look' }>,
  pace: SlotPace,
): ReturnType<typeof adaptSlots> {
  const quietMs = since(state.throttledAtMs, atMs);
  const isFull = peakUsed >= Math.max(LEAST, Math.floor(state.limit * 0.95));
  const isQuiet = quietMs >= pace.quietMs && since(state.cutAtMs, atMs) >= pace.cutEveryMs;
  if (!isFull || !isQuiet || state.limit >= MOST) return { state, change: null };
  const isFast = quietMs >= pace.forgetMs;
  if (!isFast && since(state.changedAtMs, atMs) < pace.slowEveryMs) return { state, change: null };
  const step = Math.max(1, Math.round(state.limit * (isFast ? 0.25 : 0.02)));
  const to = Math.min(MOST, state.limit + step);
  return {
    state: { ...state, limit: to, changedAtMs: atMs },
    change: { from: state.limit, to, reason: 'all slots are used and nothing is throttled' },
  };
}

const since = (thenMs: number | null, nowMs: number): number => (thenMs === null ? Infinity : nowMs - thenMs);
