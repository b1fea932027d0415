import type { Limit, Outcome } from './outcome.ts';
import type { Score } from './score.ts';

export type GradeInput = {
  readonly scores: readonly Score[];
  /** The cap that ended the agent, if one did: it is kept and changes no score. */
  readonly limit: Limit | null;
};

/**
 * The outcome of an attempt whose agent ended. Score = weighted mean of the scorers that answered; it passes when
 * every one of them with a weight passes (a weight of 0 shows a figure and decides nothing). A required scorer
 * without an answer makes the attempt `unscored`; an optional one leaves the mean.
 */
export function gradeAttempt({ scores, limit }: GradeInput): Outcome {
  const silent = scores.filter((score) => score.required && score.verdict.kind === 'unscored');
  if (silent.length > 0) return toUnscored(limit, toCode(silent), silent.map(explain).join('; '));
  const counted = scores.flatMap(({ verdict, weight }) =>
    verdict.kind === 'scored' && weight > 0 ? [{ value: verdict.value, pass: verdict.pass, weight }] : [],
  );
  const weight = counted.reduce((sum, score) => sum + score.weight, 0);
  if (weight === 0) return toUnscored(limit, 'no_score', explainNothing(scores));
  const score = counted.reduce((sum, item) => sum + item.weight * item.value, 0) / weight;
  return {
    kind: 'scored',
    // Rounding of the division may leave the range by one bit.
    score: Math.min(1, Math.max(0, score)),
    pass: counted.every((item) => item.pass),
    limit,
  };
}

const toUnscored = (limit: Limit | null, code: string, message: string): Outcome => ({
  kind: 'unscored',
  reason: { code, phase: 'evaluate', message },
  limit,
});

/** `time_out` when that is what every silent scorer says, so that it can be told from a broken one. */
const toCode = (silent: readonly Score[]): string =>
  silent.every(({ verdict }) => verdict.kind === 'unscored' && verdict.code === 'time_out')
    ? 'scorer_time_out'
    : 'scorer_failed';

const explain = ({ scorer, verdict }: Score): string =>
  verdict.explanation.startsWith(`scorer ${scorer}`)
    ? verdict.explanation
    : `scorer ${scorer}: ${verdict.explanation}`;

function explainNothing(scores: readonly Score[]): string {
  if (scores.length === 0) return 'no scorer judged this attempt: give the suite or the case a scorer';
  const silent = scores.filter(({ verdict }) => verdict.kind === 'unscored');
  if (silent.length === scores.length)
    return `no optional scorer could judge: ${silent.map(explain).join('; ')}`;
  return 'every scorer that answered has weight 0: give one of them a weight';
}
