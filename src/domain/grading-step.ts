import type { Cell } from './ids.ts';

/** Scorers of the run file, on one answer. */
export type GradeInProcessInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly answerDigest: string | null;
  /** The answer is that of the cell's origin: read from the store, with all that is known of it. */
  readonly stored?: true;
};

export type ProcessScores = {
  /** Blob of the scorers' scores (`Score[]` as JSON). */
  readonly scoresDigest: string;
};

/** The judges of one engine, on one answer. */
export type AskJudgesInput = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly answerDigest: string | null;
  readonly engineId: string;
  /** Which grading of this answer it is, from 1. */
  readonly scoreVersion: number;
  /** The answer is that of the cell's origin: read from the store, with all that is known of it. */
  readonly stored?: true;
};

export type AskJudgesResult =
  /** Blob of what they said (`JudgeOpinion[]` as JSON). */
  | { readonly kind: 'asked'; readonly opinionsDigest: string }
  /** The run takes no more calls. */
  | { readonly kind: 'stopped' };
