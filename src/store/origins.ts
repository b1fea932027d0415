import type { AttemptKey } from '../domain/ids.ts';
import type { Limit, Outcome } from '../domain/outcome.ts';
import { findCommandRun, toAnswer } from './command-runs.ts';
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

/** Of a cell that was cut off before its grade the answer is that of its only step. Throws when there is none to be had. */
export async function loadOrigin(db: Db, key: AttemptKey): Promise<Origin> {
  const [row] = await selectRows<StoredOrigin>(db, {
    name: 'load-origin',
    text: `select o.run_id, o.task, o.attempt, o.generation, o.try_number,
        coalesce(o.answer_digest, c.answer_digest) as answer_digest, o.outcome, o.detail, c.finish_reason, c.output_tokens
      from attempts a join attempts o on o.run_id = a.origin_run and o.task = a.origin_task
        and o.attempt = a.origin_attempt and o.generation = a.origin_generation
      left join model_calls c on o.outcome = 'interrupted' and c.run_id = o.run_id and c.task = o.task
        and c.attempt = o.attempt and c.generation = o.generation and c.try_number = o.try_number
        and c.purpose = 'agent' and c.step = 1 and c.state = 'completed'
      where a.run_id = $1 and a.task = $2 and a.attempt = $3 and a.generation = $4`,
    values: [key.runId, key.task, key.attempt, key.generation],
  });
  if (row === undefined)
    throw new Error(
      `Task ${key.task}, attempt ${key.attempt} of run ${key.runId} has no answer that is stored.`,
    );
  const { run_id: runId, task, attempt, generation, try_number: tryNumber } = row;
  const at = { key: { runId, task, attempt, generation }, tryNumber };
  const found = row.outcome === 'interrupted' ? await findCommandRun(db, at) : null;
  const answer = found?.state === 'completed' ? toAnswer(found.run) : null;
  return { ...at, ...(answer ?? { answerDigest: row.answer_digest, limit: toLimit(row) }) };
}

/** What a cell that was cut off does not say of its answer, its call does. */
function toLimit({ detail, finish_reason, output_tokens }: StoredOrigin): Limit | null {
  if (finish_reason === 'length') return { kind: 'output', limit: null, measured: output_tokens };
  return detail === null ? null : (JSON.parse(detail) as Outcome).limit;
}

type StoredOrigin = {
  readonly run_id: string;
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly answer_digest: string | null;
  readonly outcome: string | null;
  readonly detail: string | null;
  readonly finish_reason: string | null;
  readonly output_tokens: number | null;
};
