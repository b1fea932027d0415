import type { Outcome } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeNullable, unescapeText } from './text.ts';

/** One planned cell in its latest generation. */
export type AttemptRow = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly requestName: string;
  readonly modelId: string;
  readonly caseId: string;
  /** Null = not recorded yet. */
  readonly outcome: Outcome | null;
  readonly tryNumber: number;
  /** At most 200 characters of the final answer. */
  readonly answerPreview: string | null;
  /** ISO 8601 in UTC. */
  readonly recordedAt: string | null;
};

/** Cells by task and attempt, those after a given one. */
export async function listAttemptRows(
  db: Db,
  page: {
    readonly runId: string;
    readonly after: { readonly task: number; readonly attempt: number };
    readonly limit: number;
  },
): Promise<AttemptRow[]> {
  const rows = await selectRows<StoredRow>(db, {
    name: 'list-attempt-rows',
    text: `select a.task, a.attempt, a.generation, r.name as request_name, t.model_id, t.case_id, a.detail,
        a.try_number, a.answer_preview, a.recorded_at
      from latest_attempts a
      join tasks t on t.run_id = a.run_id and t.task = a.task
      join requests r on r.run_id = a.run_id and r.request_index = t.request_index
      where a.run_id = $1 and (a.task, a.attempt) > ($2, $3) order by a.task, a.attempt limit $4`,
    values: [page.runId, page.after.task, page.after.attempt, page.limit],
  });
  return rows.map((row) => ({
    task: row.task,
    attempt: row.attempt,
    generation: row.generation,
    requestName: unescapeText(row.request_name),
    modelId: unescapeText(row.model_id),
    caseId: unescapeText(row.case_id),
    outcome: row.detail === null ? null : (JSON.parse(row.detail) as Outcome),
    tryNumber: row.try_number,
    answerPreview: unescapeNullable(row.answer_preview),
    recordedAt: row.recorded_at?.toISOString() ?? null,
  }));
}

type StoredRow = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly request_name: string;
  readonly model_id: string;
  readonly case_id: string;
  readonly detail: string | null;
  readonly try_number: number;
  readonly answer_preview: string | null;
  readonly recorded_at: Date | null;
};
