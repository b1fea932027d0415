import type { AttemptKey } from '../domain/ids.ts';
import type { Outcome, Reason } from '../domain/outcome.ts';
import type { Score } from '../domain/score.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { escapeNullable, escapeText } from './text.ts';

const PREVIEW_LENGTH = 200;

export type AttemptRecord = {
  readonly key: AttemptKey;
  readonly tryNumber: number;
  readonly outcome: Outcome;
  readonly scores: readonly Score[];
  /** Blob of the final answer, or null without one. */
  readonly answerDigest: string | null;
  /** Cut to 200 characters here. */
  readonly answerPreview: string | null;
};

export type RecordAnswer = {
  /** Whether this call wrote the outcome. */
  readonly recorded: boolean;
  /** The outcome that counts: the stored one when it was there before. */
  readonly outcome: Outcome;
};

/**
 * Records outcomes of planned cells of one run with their scores, in one statement; the first write wins. A
 * redelivery of the same try gets the stored outcome; a result after the run was settled is kept as a late
 * try and changes nothing. Under strategy `pass` a pass takes the later attempts out of the plan, and with
 * `failFast` a failure freezes the run, in the same statement. Calls of these attempts that are still open
 * are settled at their worst case. Answers come in the order of the records. Throws, and records none of
 * them, for a cell outside the plan and for another try of a recorded cell.
 */
export async function recordAttempts(
  db: Db,
  runId: string,
  records: readonly AttemptRecord[],
): Promise<readonly RecordAnswer[]> {
  const rows = await selectRows<{ recorded: boolean; stored_detail: string }>(db, {
    name: 'record-attempts',
    text: 'select recorded, stored_detail from record_attempts($1, $2::jsonb) order by ordinal',
    values: [runId, JSON.stringify(records.map(toRow))],
  });
  return rows.map((row) => ({
    recorded: row.recorded,
    outcome: JSON.parse(row.stored_detail) as Outcome,
  }));
}

function toRow({ key, tryNumber, outcome, scores, answerDigest, answerPreview }: AttemptRecord): object {
  const scored = outcome.kind === 'scored';
  return {
    task: key.task,
    attempt: key.attempt,
    generation: key.generation,
    try: tryNumber,
    outcome: outcome.kind,
    score: scored ? outcome.score : null,
    pass: scored ? outcome.pass : null,
    reason_code: scored ? null : escapeText(outcome.reason.code),
    detail: JSON.stringify(outcome),
    answer_digest: answerDigest,
    answer_preview: escapeNullable(answerPreview?.slice(0, PREVIEW_LENGTH) ?? null),
    scores: scores.map(toScoreRow),
  };
}

function toScoreRow({ scorer, kind, weight, required, verdict }: Score): object {
  const scored = verdict.kind === 'scored';
  return {
    scorer: escapeText(scorer),
    kind,
    weight,
    required,
    value: scored ? verdict.value : null,
    pass: scored ? verdict.pass : null,
    code: scored ? null : escapeText(verdict.code),
    explanation: escapeText(verdict.explanation),
    metrics: scored ? JSON.stringify(verdict.metrics) : null,
  };
}

/**
 * Gives every planned cell that is still open its outcome: `interrupted` when tokens were spent on it or a
 * request of unknown end was sent, else `not_run` with zero tries. Idempotent.
 */
export async function settleUnrecorded(
  db: Db,
  {
    runId,
    generation,
    reason,
  }: { readonly runId: string; readonly generation: number; readonly reason: Reason },
): Promise<{ readonly interrupted: number; readonly notRun: number }> {
  const row = await selectRow<{ interrupted: number; not_run: number }>(db, {
    text: 'select interrupted, not_run from settle_unrecorded($1, $2, $3, $4, $5)',
    values: [
      runId,
      generation,
      escapeText(reason.code),
      JSON.stringify({ kind: 'interrupted', reason, limit: null } satisfies Outcome),
      JSON.stringify({ kind: 'not_run', reason, limit: null } satisfies Outcome),
    ],
  });
  return { interrupted: row.interrupted, notRun: row.not_run };
}
