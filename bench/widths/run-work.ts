import { startRun } from '../../src/client/start-run.ts';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { loadRun } from '../../src/config/load.ts';
import type { Json, JsonObject } from '../../src/domain/json.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import type { BenchStack } from '../bench-stack.ts';
import type { WidthRun } from './width-points.ts';
import { toSuite, type Width, type Work } from './works.ts';

/** A provider, a model of it and what a run may cost, as a run file says it. */
export type Target = {
  readonly provider: JsonObject;
  readonly model: JsonObject;
  readonly budgets: JsonObject;
};

/** Runs a suite at one width and reads from the store what it took. */
export async function runWork(
  { connection }: BenchStack,
  { work, width, target }: { readonly work: Work; readonly width: Width; readonly target: Target },
): Promise<WidthRun> {
  const loaded = await loadRun({
    source: { kind: 'document', value: toDocument(work, width, target), baseDir: process.cwd() },
    catalog: createBuiltInCatalog(),
  });
  const client = await connection.temporal();
  const started = performance.now();
  const { runId } = await startRun(connection, { loaded, runId: null, approved: true });
  const result = (await client.workflow.getHandle(toRunWorkflowId(runId)).result()) as RunResult;
  const seconds = (performance.now() - started) / 1_000;
  const { rows } = await connection.db.query<{ requests: number; failed: number; cost: number | null }>(
    `select count(*)::int as requests, (count(*) filter (where state <> 'completed'))::int as failed,
       case when count(*) filter (where charged_usd is null) = 0 then sum(charged_usd)::float8 end as cost
     from model_calls where run_id = $1`,
    [runId],
  );
  return {
    width,
    seconds,
    cells: work.cells,
    unscored: work.cells - (result.outcomes.scored ?? 0),
    requests: rows[0]?.requests ?? 0,
    failedRequests: rows[0]?.failed ?? 0,
    costUsd: rows[0]?.cost ?? null,
  };
}

/** A number: so many attempts and so many calls at a time. */
function toDocument(work: Work, width: Width, { provider, model, budgets }: Target): Json {
  const { name, harness, environment } = work;
  return {
    name: `width-${name}-${width}`,
    providers: [{ ...provider, limits: { concurrency: width } }],
    models: [model],
    suite: toSuite(work),
    harness,
    environment,
    budgets,
    execution: { seed: 1, ...(width === 'auto' ? {} : { taskConcurrency: width }) },
  };
}
