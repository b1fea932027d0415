import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

/** What a run did while it had so many places. */
export type WidthRow = {
  readonly taskConcurrency: number;
  /** ISO 8601 in UTC. */
  readonly since: string;
  /** Null = it holds now, or held until the run ended. */
  readonly until: string | null;
  /** Cells that got their result in this time, and those of them without a score. */
  readonly cells: number;
  readonly failedCells: number;
  /** Model calls that ended in this time, and those of them that failed. */
  readonly calls: number;
  readonly failedCalls: number;
  /** Of these calls; null = none of them has a known cost. */
  readonly costUsd: number | null;
};

/** What a run did at each width that it had, in order; none where nobody changed it. */
export async function listWidths(db: Db, runId: string): Promise<readonly WidthRow[]> {
  const rows = await selectRows<StoredWidth>(db, { text: WIDTHS, values: [runId] });
  return rows.map(({ since, until, ...row }) => ({
    ...row,
    since: since.toISOString(),
    until: until?.toISOString() ?? null,
  }));
}

type StoredWidth = Omit<WidthRow, 'since' | 'until'> & { readonly since: Date; readonly until: Date | null };

const WIDTHS = `
  with changes as (
    select id, old_value, new_value, changed_at from limit_changes
    where run_id = $1 and engine_id is null and limit_name = 'taskConcurrency'
  ), starts as (
    select id, new_value::int as width, changed_at as since from changes
    union all
    (select 0, c.old_value::int, coalesce(r.started_at, r.created_at)
      from changes c join runs r on r.run_id = $1 order by c.id limit 1)
  ), spans as (
    select id, width, since, lead(since) over (order by id) as until from starts
  )
  select s.width as "taskConcurrency", s.since, s.until, a.cells, a.failed as "failedCells", c.calls,
    c.failed as "failedCalls", c.cost as "costUsd"
  from spans s
  cross join lateral (
    select count(*) as cells, count(*) filter (where outcome <> 'scored') as failed from attempts
    where run_id = $1 and planned and recorded_at >= s.since and (s.until is null or recorded_at < s.until)) a
  cross join lateral (
    select count(*) as calls, count(*) filter (where state <> 'completed') as failed, sum(cost_usd)::float8 as cost
    from model_calls
    where run_id = $1 and finished_at >= s.since and (s.until is null or finished_at < s.until)) c
  order by s.id`;
