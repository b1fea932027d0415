import type { AttemptKey } from '../domain/ids.ts';
import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';

/** The agent's completed calls of one try, added up; null where there is none, or the cost of one is unknown. */
export async function loadMeasured(
  db: Db,
  { key, tryNumber }: { readonly key: AttemptKey; readonly tryNumber: number },
): Promise<{ readonly latencyMs: number | null; readonly costUsd: number | null }> {
  const row = await selectRow<{ latency_ms: number | null; cost_usd: number | null }>(db, {
    name: 'load-measured',
    text: `select sum(latency_ms) as latency_ms,
        case when bool_and(cost_usd is not null or worst_usd = 0) then sum(coalesce(cost_usd, 0))::float8 end as cost_usd
      from model_calls where run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5
        and purpose = 'agent' and state = 'completed'`,
    values: [key.runId, key.task, key.attempt, key.generation, tryNumber],
  });
  return { latencyMs: row?.latency_ms ?? null, costUsd: row?.cost_usd ?? null };
}
