import type { RunState } from '../domain/outcome.ts';
import { listAskedCalls, type AskedCallRow } from './asked-calls.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { loadBudgetUse, loadEngineLoads, type BudgetUse, type EngineLoad } from './run-load.ts';
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
  /** Calls that wait for a booked start: a retry, or the rates of the engine. */
  readonly waiting: number;
};

export type Progress = {
  readonly runId: string;
  readonly state: RunState;
  readonly reason: string | null;
  readonly generation: number;
  /** Variables that the run waits for, because no worker has a value. */
  readonly missingKeys: readonly string[];
  /** Those that its models are called through. */
  readonly engines: readonly EngineLoad[];
  readonly budget: BudgetUse | null;
  /** Tool calls that wait for a person. */
  readonly asked: readonly AskedCallRow[];
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
    missingKeys: run.missingKeys,
    engines: await loadEngineLoads(db, runId),
    budget: await loadBudgetUse(db, runId),
    asked: run.finishedAt === null ? await listAskedCalls(db, runId) : [],
    rows: rows.map((row) => ({
      ...row,
      modelId: unescapeText(row.modelId),
      requestName: unescapeText(row.requestName),
    })),
  };
}

const PROGRESS = `
  select request_index as "requestIndex", request_name as "requestName", model_id as "modelId", planned, done, scored,
    pass, mean_score as "meanScore", errors, unscored, not_run as "notRun", skipped, cost_usd as "costUsd",
    in_flight as "inFlight", waiting
  from count_progress($1)`;
