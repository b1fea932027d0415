import type { Figures } from './figure-schema.ts';
import type { Board, BoardRow } from './report-schema.ts';
import {
  toSpentText,
  toCountText,
  toDurationText,
  toPercentText,
  toScoreText,
  toTokens,
} from './figure-text.ts';

export type Column = {
  readonly head: readonly [string, string];
  /** First line, then lines of less weight. */
  readonly toLines: (row: BoardRow, board: Board) => readonly string[];
};

/** The figures of a board, each with the count behind it. */
export const COLUMNS: readonly Column[] = [
  { head: ['mean', '95% interval'], toLines: toMeanLines },
  { head: ['passed', '95% interval'], toLines: ({ figures }) => toPassLines(figures) },
  { head: ['scored', 'of planned'], toLines: ({ figures }) => toScoredLines(figures) },
  { head: ['cost', 'tokens'], toLines: ({ figures }) => toCostLines(figures) },
  { head: ['p50', 'p95'], toLines: ({ figures }) => toLatencyLines(figures) },
];

/** Below it stand the mean that ranks where that is over fewer cases, and the strict one where errors make it another. */
function toMeanLines({ figures, status, sharedMean }: BoardRow, { sharedCases }: Board): readonly string[] {
  const { mean, strictMean, outcomes } = figures;
  if (mean === null) return ['–'];
  const interval =
    mean.interval === null ? '' : `[${toScoreText(mean.interval.low)}, ${toScoreText(mean.interval.high)}]`;
  const strict =
    strictMean === null || outcomes.error === 0
      ? []
      : [`strict ${toScoreText(strictMean.value)} n=${strictMean.cases}`];
  const shared =
    status !== 'ranked' || sharedMean === null || sharedCases === mean.cases
      ? []
      : [`shared ${toScoreText(sharedMean)} n=${sharedCases}`];
  return [`${toScoreText(mean.value)}  n=${mean.cases}`, interval, ...shared, ...strict];
}

function toPassLines({ passRate }: Figures): readonly string[] {
  if (passRate === null) return ['–'];
  const { interval } = passRate;
  const range = interval === null ? '' : `[${toPercentText(interval.low)}, ${toPercentText(interval.high)}]`;
  return [`${toPercentText(passRate.value)}  ${passRate.passes}/${passRate.attempts}`, range];
}

function toScoredLines({ coverage }: Figures): readonly string[] {
  return [`${coverage.scored}/${coverage.planned}`, coverage.complete ? 'all' : 'partial'];
}

function toCostLines({ costUsd, knownCostUsd, usage }: Figures): readonly string[] {
  const tokens = toTokens(usage);
  return [toSpentText({ costUsd, knownCostUsd }), tokens === null ? '' : `${toCountText(tokens)} tok`];
}

/** Its count stands below where it is not that of the scored cells. */
function toLatencyLines({ latency, coverage }: Figures): readonly string[] {
  if (latency === null) return ['–'];
  const count = latency.cells === coverage.scored ? [] : [`n=${latency.cells}`];
  return [toDurationText(latency.p50Ms), toDurationText(latency.p95Ms), ...count];
}
