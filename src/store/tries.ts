import type { AttemptKey } from '../domain/ids.ts';
import type { Phase } from '../domain/outcome.ts';
import { selectRow, type Db } from './pool.ts';
import { escapeNullable, escapeText } from './text.ts';

/** A try that an infrastructure fault ended and that another follows: visible, never counted. */
export type DiscardedTry = {
  readonly key: AttemptKey;
  readonly tryNumber: number;
  readonly stage: Phase;
  /** What is run again. */
  readonly scope: 'attempt' | 'grading';
  /** The expression that matched the error, or null when the cause decided. */
  readonly pattern: string | null;
  readonly error: string;
};

/**
 * Keeps a discarded try with the plan of its attempt, else the run's; the same one again changes nothing. Returns
 * whether a model has answered in this attempt, or may have: the evidence of `settle_unrecorded`.
 */
export async function recordDiscardedTry(db: Db, discarded: DiscardedTry): Promise<boolean> {
  const { key } = discarded;
  const row = await selectRow<{ spent: boolean }>(db, {
    text: `with kept as (insert into tries
        (run_id, task, attempt, generation, try_number, stage, scope, pattern, error, plan_digest)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9,
        coalesce(
          (select plan_digest from attempts where run_id = $1 and task = $2 and attempt = $3 and generation = $4),
          (select plan_digest from runs where run_id = $1))) on conflict do nothing)
      select exists (select from model_calls
        where run_id = $1 and task = $2 and attempt = $3 and generation = $4
          and (state in ('started', 'lost', 'late', 'completed') or input_tokens > 0 or output_tokens > 0)) as spent`,
    values: [
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      discarded.tryNumber,
      discarded.stage,
      discarded.scope,
      escapeNullable(discarded.pattern),
      escapeText(discarded.error),
    ],
  });
  return row.spent;
}
