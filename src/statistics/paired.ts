import { type CaseValue, sum, toWeighted } from './case-values.ts';
import { toTInterval, toZ } from './intervals.ts';
import { estimateMean, type MeanEstimate } from './mean.ts';

/** Two models on the cases that both have. Differences are first minus second. */
export type PairedComparison = {
  readonly cases: number;
  readonly clusters: number;
  readonly difference: number | null;
  readonly standardError: number | null;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  readonly method: 'mcnemar' | 'sign' | 't' | 'too_few';
  /** Whether the difference is more than chance at the level `alpha`. */
  readonly isSeparated: boolean;
};

/** With fewer independent cases not even a clean sweep is significant at 5 % (2 x 0.5^5 > 0.05). */
export const MIN_CLUSTERS = 6;

/**
 * Compares two models case by case, over shared cases only.
 * - fewer than six clusters: never separated;
 * - every value 0 or 1 and cases independent: exact McNemar test (binomial over the cases that differ);
 * - no spread in the differences: exact sign test over clusters, because a t interval of width 0 proves nothing;
 * - else: the t interval of the mean difference with its clustered standard error excludes 0.
 */
export function comparePaired(
  first: readonly CaseValue[],
  second: readonly CaseValue[],
  alpha: number,
): PairedComparison {
  const differences = toDifferences(first, second);
  const estimate = estimateMean(differences);
  const wins = differences.filter((item) => item.value > 0).length;
  const losses = differences.filter((item) => item.value < 0).length;
  const method = chooseMethod({ estimate, differences, isBinary: isBinary(first) && isBinary(second) });
  return {
    cases: differences.length,
    clusters: estimate?.clusters ?? 0,
    difference: estimate?.value ?? null,
    standardError: estimate?.standardError ?? null,
    wins,
    losses,
    ties: differences.length - wins - losses,
    method,
    isSeparated: estimate !== null && isSeparated({ method, estimate, wins, losses, alpha }),
  };
}

function toDifferences(first: readonly CaseValue[], second: readonly CaseValue[]): readonly CaseValue[] {
  const others = new Map(second.map((item) => [item.caseId, item.value]));
  return toWeighted(first).flatMap((item) => {
    const other = others.get(item.caseId);
    return other === undefined ? [] : [{ ...item, value: item.value - other }];
  });
}

const isBinary = (values: readonly CaseValue[]): boolean =>
  values.every((item) => (item.value === 0 || item.value === 1) && item.weight === values[0]?.weight);

function chooseMethod(facts: {
  readonly estimate: MeanEstimate | null;
  readonly differences: readonly CaseValue[];
  readonly isBinary: boolean;
}): PairedComparison['method'] {
  const { estimate } = facts;
  if (estimate === null || estimate.clusters < MIN_CLUSTERS) return 'too_few';
  if (facts.isBinary && estimate.clusters === estimate.cases) return 'mcnemar';
  return estimate.standardError === 0 ? 'sign' : 't';
}

function isSeparated(facts: {
  readonly method: PairedComparison['method'];
  readonly estimate: MeanEstimate;
  readonly wins: number;
  readonly losses: number;
  readonly alpha: number;
}): boolean {
  const { method, estimate, wins, losses, alpha } = facts;
  switch (method) {
    case 'too_few':
      return false;
    case 'mcnemar':
      return toBinomialP(wins, losses) < alpha;
    case 'sign':
      return estimate.value !== 0 && toBinomialP(estimate.clusters, 0) < alpha;
    case 't': {
      const interval = toTInterval(estimate, 1 - alpha);
      return interval !== null && (interval.low > 0 || interval.high < 0);
    }
  }
}

/** Two-sided exact binomial p-value at one half: twice the smaller tail, at most 1 (McNemar's exact test). */
export function toBinomialP(wins: number, losses: number): number {
  const count = wins + losses;
  const logHalves = -count * Math.LN2;
  const terms: number[] = [];
  let logChoose = 0;
  for (let index = 0; index <= Math.min(wins, losses); index += 1) {
    terms.push(Math.exp(logChoose + logHalves));
    logChoose += Math.log((count - index) / (index + 1));
  }
  return Math.min(1, 2 * sum(terms));
}

const POWER = 0.8;

/**
 * Cases that would settle a difference of this size with 80 % power: ((z(alpha/2) + z(power)) x sd / difference)^2,
 * where sd is per case. Null when there is no difference, or when the number is out of reach (over 10,000 or
 * over a hundred times what there is).
 */
export function countCasesNeeded(comparison: PairedComparison, alpha: number): number | null {
  const { difference, standardError, cases } = comparison;
  if (difference === null || difference === 0 || standardError === null) return null;
  const deviation = standardError * Math.sqrt(cases);
  const reach = toZ(1 - alpha) + toZ(2 * POWER - 1);
  const needed = Math.max(cases + 1, MIN_CLUSTERS, Math.ceil(((reach * deviation) / difference) ** 2));
  return needed > 10_000 || needed > 100 * cases ? null : needed;
}
