import type { AttemptKey } from '../domain/ids.ts';
import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';

/** What the rows say of one try before its agent sends another request. */
export type TrySpending = {
  /** 0 = it has asked for nothing yet. */
  readonly lastStep: number;
  readonly lastSequence: number;
  /** What is known; null = nothing is. */
  readonly tokens: number | null;
  readonly costUsd: number | null;
  /** Its run has budgets: a resume may have set the first one, so that its plan does not say. */
  readonly hasCaps: boolean;
};

/**
 * Opens a try to the requests of its agent. What earlier processes of the attempt left open is settled at its worst
 * case: else a budget would wait for what nobody gives back.
 */
export async function openProxiedTry(
  db: Db,
  { key, tryNumber }: { readonly key: AttemptKey; readonly tryNumber: number },
): Promise<TrySpending> {
  const { runId, task, attempt, generation } = key;
  await db.query({
    text: 'select lose_open_calls($1, $2, $3, $4)',
    values: [runId, task, attempt, generation],
  });
  const row = await selectRow<{
    last_step: number;
    last_sequence: number;
    tokens: number | null;
    cost_usd: number | null;
    has_caps: boolean;
  }>(db, {
    text: `select coalesce(max(step), 0) as last_step,
        (select coalesce(max(sequence), 0) from steps
          where run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5) as last_sequence,
        sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0))
          filter (where input_tokens is not null or output_tokens is not null)::float8 as tokens,
        sum(cost_usd)::float8 as cost_usd,
        coalesce((select has_caps from runs where run_id = $1), false) as has_caps
      from model_calls
      where run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5
        and purpose = 'agent'`,
    values: [runId, task, attempt, generation, tryNumber],
  });
  return {
    lastStep: row.last_step,
    lastSequence: row.last_sequence,
    tokens: row.tokens,
    costUsd: row.cost_usd,
    hasCaps: row.has_caps,
  };
}
