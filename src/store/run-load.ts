import { toTrip, TRIP, type EngineTrip, type StoredTrip } from './engine-trip.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeNullable } from './text.ts';

/** What one engine does for a run at a moment, and what holds its calls back. */
export type EngineLoad = {
  readonly engineId: string;
  readonly kind: string;
  readonly baseUrl: string | null;
  /** Variable that holds its key. */
  readonly apiKeyEnv: string | null;
  readonly concurrency: number | 'auto';
  /** Under `auto` what a worker has come to; null = not changed yet. */
  readonly slots: number | null;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Requests of the run that are out now. */
  readonly inFlight: number;
  /** Calls of the run that wait for a rate, and the time until the first may start; null = none waits. */
  readonly waitingForRate: number;
  readonly nextStartMs: number | null;
  /** Calls of the run that wait for a retry. */
  readonly waitingForRetry: number;
  /** ISO 8601 in UTC; null = it is not paused. */
  readonly pausedUntil: string | null;
  readonly pauseReason: string | null;
  /** Null = its breaker is closed. */
  readonly trip: EngineTrip | null;
};

/** Engines of a run's models, in the order of their ids. */
export async function loadEngineLoads(db: Db, runId: string): Promise<readonly EngineLoad[]> {
  const rows = await selectRows<StoredLoad>(db, {
    name: 'load-engine-loads',
    text: ENGINE_LOADS,
    values: [runId],
  });
  return rows.map(({ concurrency, slots, paused_until, pauseReason, trip, ...row }) => ({
    ...row,
    concurrency: concurrency === 'auto' ? 'auto' : Number(concurrency),
    slots: slots === null ? null : Number(slots),
    pausedUntil: paused_until?.toISOString() ?? null,
    pauseReason: paused_until === null ? null : unescapeNullable(pauseReason),
    trip: toTrip(trip),
  }));
}

/** What a run has been charged, worst cases of open calls left out, and its caps; null = no cap. */
export type BudgetUse = {
  readonly spentUsd: number;
  readonly capUsd: number | null;
  readonly spentTokens: number;
  readonly capTokens: number | null;
};

/** Null = the run has no cap of its own. */
export async function loadBudgetUse(db: Db, runId: string): Promise<BudgetUse | null> {
  const [row] = await selectRows<BudgetUse>(db, {
    name: 'load-budget-use',
    text: `select spent_usd::float8 as "spentUsd", cap_usd::float8 as "capUsd", spent_tokens::float8 as "spentTokens",
        cap_tokens::float8 as "capTokens"
      from reservations where run_id = $1 and scope = 'run'`,
    values: [runId],
  });
  return row ?? null;
}

type StoredLoad = Omit<EngineLoad, 'concurrency' | 'slots' | 'pausedUntil' | 'trip'> & {
  readonly trip: StoredTrip | null;
  readonly concurrency: string;
  readonly slots: string | null;
  readonly paused_until: Date | null;
};

const ENGINE_LOADS = `
  with calls as (
    select engine_id, count(*) filter (where state = 'started') as in_flight,
      count(*) filter (where state = 'failed' and retry_at > now()) as retrying
    from model_calls
    where run_id = $1 and (state = 'started' or (state = 'failed' and retry_at > now()))
    group by engine_id
  ), booked as (
    select engine_id, count(*) as waiting, min(start_ms) as first_ms from booked_starts where run_id = $1
    group by engine_id
  )
  select e.engine_id as "engineId", e.kind, e.base_url as "baseUrl", e.key_name as "apiKeyEnv", e.concurrency,
    (select l.new_value from limit_changes l
      where l.engine_id = e.engine_id and l.limit_name like 'slots of %' order by l.id desc limit 1) as slots,
    e.requests_per_minute as "requestsPerMinute", e.tokens_per_minute::float8 as "tokensPerMinute",
    coalesce(c.in_flight, 0)::int as "inFlight", coalesce(b.waiting, 0)::int as "waitingForRate",
    case when b.first_ms is not null
      then greatest(0, b.first_ms - extract(epoch from clock_timestamp()) * 1000)::float8 end as "nextStartMs",
    coalesce(c.retrying, 0)::int as "waitingForRetry",
    case when e.paused_until > clock_timestamp() then e.paused_until end as paused_until,
    e.pause_reason as "pauseReason", ${TRIP} as trip
  from runs r join engines e on e.engine_id = any (r.engine_ids)
  left join calls c on c.engine_id = e.engine_id
  left join booked b on b.engine_id = e.engine_id
  where r.run_id = $1 order by e.engine_id`;
