import type { Figures } from './figure-schema.ts';
import {
  toCostText,
  toCountText,
  toDurationText,
  toPercentText,
  toScoreText,
  toTokens,
} from './figure-text.ts';

export type Column = {
  readonly head: readonly [string, string];
  /** First line, then lines of less weight. */
  readonly toLines: (figures: Figures) => readonly string[];
};

/** The figures of a board, each with the count behind it. */
export const COLUMNS: readonly Column[] = [
  { head: ['mean', '95% interval'], toLines: toMeanLines },
  { head: ['passed', '95% interval'], toLines: toPassLines },
  { head: ['scored', 'of planned'], toLines: toScoredLines },
  { head: ['cost', 'tokens'], toLines: toCostLines },
  { head: ['p50', 'p95'], toLines: toLatencyLines },
];

/** The strict mean stands below where errors make it another number. */
function toMeanLines({ mean, strictMean, outcomes }: Figures): readonly string[] {
  if (mean === null) return ['–'];
  const interval =
    mean.interval === null ? '' : `[${toScoreText(mean.interval.low)}, ${toScoreText(mean.interval.high)}]`;
  const strict =
    strictMean === null || outcomes.error === 0
      ? []
      : [`strict ${toScoreText(strictMean.value)} n=${strictMean.cases}`];
  return [`${toScoreText(mean.value)}  n=${mean.cases}`, interval, ...strict];
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

function toCostLines({ costUsd, usage }: Figures): readonly string[] {
  const tokens = toTokens(usage);
  return [toCostText(costUsd), tokens === null ? '' : `${toCountText(tokens)} tok`];
}

function toLatencyLines({ latency }: Figures): readonly string[] {
  return latency === null ? ['–'] : [toDurationText(latency.p50Ms), toDurationText(latency.p95Ms)];
}
