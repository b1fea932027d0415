import type { AttemptKey } from '../domain/ids.ts';
import type { Limit, Outcome } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

/** The attempt in which the answer of a cell was made. */
export type Origin = {
  readonly key: AttemptKey;
  readonly tryNumber: number;
  readonly answerDigest: string | null;
  /** The limit that ended its agent, or null. */
  readonly limit: Limit | null;
};

/** Throws when the cell has an answer of its own, or none. */
export async function loadOrigin(db: Db, key: AttemptKey): Promise<Origin> {
  const [row] = await selectRows<StoredOrigin>(db, {
    name: 'load-origin',
    text: `select o.run_id, o.task, o.attempt, o.generation, o.try_number, o.answer_digest, o.detail
      from attempts a join attempts o on o.run_id = a.origin_run and o.task = a.origin_task
        and o.attempt = a.origin_attempt and o.generation = a.origin_generation
      where a.run_id = $1 and a.task = $2 and a.attempt = $3 and a.generation = $4`,
    values: [key.runId, key.task, key.attempt, key.generation],
  });
  if (row === undefined)
    throw new Error(
      `Task ${key.task}, attempt ${key.attempt} of run ${key.runId} has no answer that is stored.`,
    );
  return {
    key: { runId: row.run_id, task: row.task, attempt: row.attempt, generation: row.generation },
    tryNumber: row.try_number,
    answerDigest: row.answer_digest,
    limit: row.detail === null ? null : (JSON.parse(row.detail) as Outcome).limit,
  };
}

type StoredOrigin = {
  readonly run_id: string;
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly answer_digest: string | null;
  readonly detail: string | null;
};
