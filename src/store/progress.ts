import type { RunState } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { loadRun } from './runs.ts';
import { unescapeText } from './text.ts';

/** Live counts of one model under one request. */
export type ProgressRow = {
  readonly requestIndex: number;
  readonly requestName: string;
  readonly modelId: string;
  readonly planned: number;
  /** Cells with an outcome. */
  readonly done: number;
  readonly scored: number;
  readonly pass: number;
  /** Mean score over the scored cells, or null without one. */
  readonly meanScore: number | null;
  /** Outcomes error, infra, interrupted, refused. */
  readonly errors: number;
  readonly unscored: number;
  readonly notRun: number;
  readonly skipped: number;
  /** Sum of the known costs; null = none is known. */
  readonly costUsd: number | null;
  /** Requests that are out now. */
  readonly inFlight: number;
  /** Calls that wait for a booked retry. */
  readonly waiting: number;
};

export type Progress = {
  readonly runId: string;
  readonly state: RunState;
  readonly reason: string | null;
  readonly generation: number;
  readonly rows: readonly ProgressRow[];
};

/** Counts for the live display, by request and model in declaration order of the tasks. Null = no such run. */
export async function loadProgress(db: Db, runId: string): Promise<Progress | null> {
  const run = await loadRun(db, runId);
  if (run === null) return null;
  const rows = await selectRows<
    Omit<ProgressRow, 'modelId' | 'requestName'> & { modelId: string; requestName: string }
  >(db, { name: 'load-progress', text: PROGRESS, values: [runId] });
  return {
    runId,
    state: run.state,
    reason: run.reason,
    generation: run.generation,
    rows: rows.map((row) => ({
      ...row,
      modelId: unescapeText(row.modelId),
      requestName: unescapeText(row.requestName),
    })),
  };
}

const PROGRESS = `
  with cells as (
    select t.request_index, t.model_id, min(t.task) as first_task, count(*) as planned, count(a.outcome) as done,
      count(*) filter (where a.outcome = 'scored') as scored, count(*) filter (where a.pass) as pass,
      avg(a.score) filter (where a.outcome = 'scored') as mean_score,
      count(*) filter (where a.outcome in ('error', 'infra', 'interrupted', 'refused')) as errors,
      count(*) filter (where a.outcome = 'unscored') as unscored,
      count(*) filter (where a.outcome = 'not_run') as not_run,
      count(*) filter (where a.outcome = 'skipped') as skipped
    from latest_attempts a join tasks t on t.run_id = a.run_id and t.task = a.task
    where a.run_id = $1
    group by t.request_index, t.model_id
  ), calls as (
    select t.request_index, t.model_id, sum(c.cost_usd) as cost_usd,
      count(*) filter (where c.state = 'started') as in_flight,
      count(*) filter (where c.state = 'failed' and c.retry_at > now()) as waiting
    from model_calls c join tasks t on t.run_id = c.run_id and t.task = c.task
    where c.run_id = $1
    group by t.request_index, t.model_id
  )
  select c.request_index as "requestIndex", r.name as "requestName", c.model_id as "modelId", c.planned, c.done,
    c.scored, c.pass, c.mean_score as "meanScore", c.errors, c.unscored, c.not_run as "notRun", c.skipped,
    k.cost_usd as "costUsd", coalesce(k.in_flight, 0) as "inFlight", coalesce(k.waiting, 0) as waiting
  from cells c
  join requests r on r.run_id = $1 and r.request_index = c.request_index
  left join calls k on k.request_index = c.request_index and k.model_id = c.model_id
  order by c.request_index, c.first_task`;
