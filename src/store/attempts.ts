import type { AttemptKey } from '../domain/ids.ts';
import type { Outcome, Reason } from '../domain/outcome.ts';
import type { Score } from '../domain/score.ts';
import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';
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
 * Records the outcome of a planned cell with its scores; the first write wins. A redelivery of the same try
 * gets the stored outcome; a result after the run was settled is kept as a late try and changes nothing.
 * Under strategy `pass` a pass takes the later attempts out of the plan, and with `failFast` a failure freezes
 * the run, in the same statement. Calls of this attempt that are still open are settled at their worst case.
 * Throws for a cell outside the plan and for another try of a recorded cell.
 */
export async function recordAttempt(db: Db, record: AttemptRecord): Promise<RecordAnswer> {
  const { key, outcome, scores } = record;
  const scored = outcome.kind === 'scored';
  const row = await selectRow<{ recorded: boolean; stored_detail: string }>(db, {
    name: 'record-attempt',
    text: `select recorded, stored_detail from record_attempt($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
      $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
    values: [
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      record.tryNumber,
      outcome.kind,
      scored ? outcome.score : null,
      scored ? outcome.pass : null,
      scored ? null : escapeText(outcome.reason.code),
      JSON.stringify(outcome),
      record.answerDigest,
      escapeNullable(record.answerPreview?.slice(0, PREVIEW_LENGTH) ?? null),
      ...toScoreColumns(scores),
    ],
  });
  return { recorded: row.recorded, outcome: JSON.parse(row.stored_detail) as Outcome };
}

function toScoreColumns(scores: readonly Score[]): unknown[][] {
  const verdicts = scores.map((score) => score.verdict);
  return [
    scores.map((score) => escapeText(score.scorer)),
    scores.map((score) => score.kind),
    scores.map((score) => score.weight),
    scores.map((score) => score.required),
    verdicts.map((verdict) => (verdict.kind === 'scored' ? verdict.value : null)),
    verdicts.map((verdict) => (verdict.kind === 'scored' ? verdict.pass : null)),
    verdicts.map((verdict) => (verdict.kind === 'unscored' ? escapeText(verdict.code) : null)),
    verdicts.map((verdict) => escapeText(verdict.explanation)),
    verdicts.map((verdict) => (verdict.kind === 'scored' ? JSON.stringify(verdict.metrics) : null)),
  ];
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
