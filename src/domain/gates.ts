import type { Gates } from './run.ts';

/** What the gates of a run look at: one model under one request. */
export type GatedBoard = {
  readonly requestName: string;
  readonly modelId: string;
  readonly planned: number;
  readonly scored: number;
  readonly unscored: number;
  /** 0..1 over scored cells; null without one. */
  readonly passRate: number | null;
  readonly mean: number | null;
  /** Why preflight skipped the model, or null. */
  readonly skippedReason: string | null;
};

export type GateFailure = {
  readonly gate: keyof Gates;
  readonly requestName: string;
  readonly modelId: string;
  readonly limit: number | null;
  readonly measured: number | null;
  readonly message: string;
};

/**
 * Gates that were not met. Each gate holds for every model of every request; a skipped model counts for
 * `requireModels` only, unless some of its cells have a result. A gate whose figure does not exist is not met: nothing measured is no pass.
 */
export function judgeGates(boards: readonly GatedBoard[], gates: Gates): readonly GateFailure[] {
  return boards.flatMap((board) => {
    const ended = board.scored + board.unscored;
    if (board.skippedReason !== null && (gates.requireModels || ended === 0))
      return gates.requireModels ? [toSkippedFailure(board, board.skippedReason)] : [];
    return [
      atLeast(board, 'minCoverage', {
        limit: gates.minCoverage,
        measured: ratio(board.scored, board.planned),
      }),
      atLeast(board, 'minPassRate', { limit: gates.minPassRate, measured: board.passRate }),
      atLeast(board, 'minMean', { limit: gates.minMean, measured: board.mean }),
      atMost(board, 'maxUnscoredRate', {
        limit: gates.maxUnscoredRate,
        measured: ratio(board.unscored, ended),
      }),
    ].filter((failure) => failure !== null);
  });
}

type Figure = { readonly limit: number | null; readonly measured: number | null };

const LABELS: { readonly [gate in keyof Gates]: string } = {
  minCoverage: 'coverage',
  minPassRate: 'pass rate',
  minMean: 'mean',
  maxUnscoredRate: 'unscored rate',
  requireModels: 'model',
};

/** Tolerates what adding binary fractions does to a figure that equals its limit. */
const SLACK = 1e-9;

const ratio = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

function atLeast(board: GatedBoard, gate: keyof Gates, figure: Figure): GateFailure | null {
  if (figure.limit === null) return null;
  if (figure.measured !== null && figure.measured >= figure.limit - SLACK) return null;
  return toFailure(board, gate, figure);
}

function atMost(board: GatedBoard, gate: keyof Gates, figure: Figure): GateFailure | null {
  if (figure.limit === null) return null;
  if (figure.measured !== null && figure.measured <= figure.limit + SLACK) return null;
  return toFailure(board, gate, figure);
}

function toFailure(board: GatedBoard, gate: keyof Gates, figure: Figure): GateFailure {
  const { requestName, modelId } = board;
  const side = gate === 'maxUnscoredRate' ? 'above' : 'below';
  const measured = figure.measured === null ? 'has no value' : `${toText(figure.measured)} is ${side}`;
  const message = `${requestName} / ${modelId}: ${LABELS[gate]} ${measured}; the gate ${gate} is ${toText(figure.limit ?? 0)}`;
  return { gate, requestName, modelId, ...figure, message };
}

function toSkippedFailure(board: GatedBoard, reason: string): GateFailure {
  const { requestName, modelId } = board;
  const message = `${requestName} / ${modelId}: the model was skipped (${reason}); the gate requireModels is on`;
  return { gate: 'requireModels', requestName, modelId, limit: null, measured: null, message };
}

/** Enough digits that a figure just off its limit does not read as equal to it. */
const toText = (value: number): string => String(Math.round(value * 10_000) / 10_000);
