/**
 * The breaker of one engine in one role, without a database: `src/store/migrations/0017_breaker.sql` is
 * its form in the store, and property tests compare the two. Times are milliseconds since 1970.
 */
export type Health = {
  /** Latest sign of life. */
  readonly aliveAtMs: number | null;
  readonly trip: Trip | null;
  /** Trips of one outage. */
  readonly trips: number;
  readonly recoveredAtMs: number | null;
  /** Calls in a row whose retries were used up. */
  readonly exhausted: number;
  /** The call that finds out whether the engine is alive, and until when the others wait for it. */
  readonly probe: { readonly call: string; readonly untilMs: number } | null;
};

/** Why an engine is taken for down. */
export type TripReason = 'credential' | 'billing' | 'no_evidence' | 'missing_binary' | 'exhausted';

/** `halfOpenAtMs`: from when on one call finds out; null = only somebody's word closes it. */
export type Trip = { readonly reason: TripReason; readonly halfOpenAtMs: number | null };

export const UNKNOWN_HEALTH: Health = {
  aliveAtMs: null,
  trip: null,
  trips: 0,
  recoveredAtMs: null,
  exhausted: 0,
  probe: null,
};

/** How long a sign of life counts. */
export const ALIVE_FOR_MS = 120_000;
/** A sign that comes so soon after another is no news. */
const FRESH_MS = 20_000;
/** How long a probe may be silent before another call takes its place; one that is slow is let go at 60 s. */
export const PROBE_LEASE_MS = 75_000;
const EXHAUSTED_IN_A_ROW = 5;
/** The next trip of one outage stays. */
const MOST_TRIPS = 4;
/** A trip that would last longer stays. */
const LONGEST_HOLD_MS = 900_000;
/** A trip so soon after a recovery belongs to the same outage. */
const SAME_OUTAGE_MS = 600_000;
/** How long the first trip of an outage lasts, where the provider says nothing. */
export const FIRST_HOLD_MS = 60_000;

export const isAlive = ({ trip, aliveAtMs }: Health, nowMs: number): boolean =>
  trip === null && aliveAtMs !== null && aliveAtMs > nowMs - ALIVE_FOR_MS;

/** What a call hears that asks to start. */
export type Hearing = 'go' | 'probe' | 'hold' | 'wait' | 'down';

export function hear(health: Health, call: string, nowMs: number): Hearing {
  const { trip, probe } = health;
  if (trip !== null && trip.halfOpenAtMs === null) return 'down';
  if (trip !== null && (trip.halfOpenAtMs ?? 0) > nowMs) return 'wait';
  if (isAlive(health, nowMs)) return 'go';
  return probe !== null && probe.call !== call && probe.untilMs > nowMs ? 'hold' : 'probe';
}

export const takeProbe = (health: Health, call: string, nowMs: number): Health => ({
  ...health,
  probe: { call, untilMs: nowMs + PROBE_LEASE_MS },
});

/** A sign of life closes a breaker that is half open, and no other. */
export function noteLife(health: Health, nowMs: number): Health {
  const { trip, exhausted, probe, aliveAtMs } = health;
  if (trip !== null && (trip.halfOpenAtMs === null || trip.halfOpenAtMs > nowMs)) return health;
  const isNews = (aliveAtMs ?? -Infinity) <= nowMs - FRESH_MS || trip !== null;
  if (!isNews && exhausted === 0 && probe === null) return health;
  const recoveredAtMs = trip === null ? health.recoveredAtMs : nowMs;
  return { ...health, aliveAtMs: nowMs, trip: null, exhausted: 0, probe: null, recoveredAtMs };
}

export type Tripping = {
  readonly reason: TripReason;
  /** Only somebody's word closes it, unless the provider said when. */
  readonly stays: boolean;
  /** What the provider said. */
  readonly resetMs: number | null;
  readonly nowMs: number;
};

export function trip(health: Health, { reason, stays, resetMs, nowMs }: Tripping): Health {
  const before = health.trip;
  if (before !== null && before.halfOpenAtMs === null) return health;
  if (before !== null && (before.halfOpenAtMs ?? 0) > nowMs && !stays) return health;
  const again =
    before !== null || (health.recoveredAtMs !== null && health.recoveredAtMs > nowMs - SAME_OUTAGE_MS);
  const trips = again ? health.trips + 1 : 1;
  const holdMs = resetMs ?? (stays ? null : FIRST_HOLD_MS * 2 ** (trips - 1));
  const isHeld = holdMs !== null && holdMs <= LONGEST_HOLD_MS && trips <= MOST_TRIPS;
  return {
    ...health,
    trip: { reason, halfOpenAtMs: isHeld ? nowMs + holdMs : null },
    trips,
    aliveAtMs: null,
    exhausted: 0,
    probe: null,
  };
}

/** The fifth in a row trips, and the first one does while the breaker is half open. */
export function noteExhausted(health: Health, ended: Pick<Tripping, 'resetMs' | 'nowMs'>): Health {
  const counted = { ...health, exhausted: health.exhausted + 1, probe: null };
  if (counted.exhausted < EXHAUSTED_IN_A_ROW && counted.trip === null) return counted;
  return trip(counted, { reason: 'exhausted', stays: false, ...ended });
}

/** The end of a probe that says nothing: the next call finds out. */
export const releaseProbe = (health: Health, call: string): Health =>
  health.probe?.call === call ? { ...health, probe: null } : health;
