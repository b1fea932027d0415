import { toTrip, TRIP, type EngineTrip, type StoredTrip } from './engine-trip.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeNullable } from './text.ts';

/** How the calls of one engine are paced now, over all workers and runs. */
export type EngineState = {
  readonly engineId: string;
  /** Calls in flight per worker as wished: a number, or `auto`. */
  readonly concurrency: string;
  /** The latest slots of each worker that changed them by itself, under `auto`, in the last hour. */
  readonly slots: readonly number[];
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  /** Calls that wait for their start by these rates. */
  readonly waiting: number;
  /** ISO 8601 in UTC; null = it is not paused. */
  readonly pausedUntil: string | null;
  readonly pauseReason: string | null;
  /** Null = its breaker is closed. */
  readonly trip: EngineTrip | null;
};

/** The engines that a run needs, as they are paced now. */
export async function loadEngineStates(db: Db, runId: string): Promise<EngineState[]> {
  const rows = await selectRows<EngineState & { pausedUntil: Date | null; trip: StoredTrip | null }>(db, {
    name: 'load-engine-states',
    text: `select e.engine_id as "engineId", e.concurrency, e.requests_per_minute as "requestsPerMinute",
        e.tokens_per_minute as "tokensPerMinute",
        coalesce((select array_agg(latest.slots order by latest.worker) from (
          select distinct on (limit_name) limit_name as worker, new_value::int as slots from limit_changes
          where engine_id = e.engine_id and limit_name like 'slots of %' and changed_at > now() - interval '1 hour'
          order by limit_name, id desc) latest), '{}') as slots,
        (select count(*) from booked_starts b where b.engine_id = e.engine_id) as waiting,
        case when e.paused_until > clock_timestamp() then e.paused_until end as "pausedUntil",
        e.pause_reason as "pauseReason", ${TRIP} as trip
      from engines e where e.engine_id in (select unnest(engine_ids) from runs where run_id = $1)
      order by e.engine_id`,
    values: [runId],
  });
  return rows.map((row) => ({
    ...row,
    waiting: Number(row.waiting),
    pausedUntil: row.pausedUntil?.toISOString() ?? null,
    pauseReason: row.pausedUntil === null ? null : unescapeNullable(row.pauseReason),
    trip: toTrip(row.trip),
  }));
}
