import { type CaseValue, sum, toClusters, toWeighted } from './case-values.ts';

/** A mean with what is needed to judge it. Counts are of cases with a weight above 0. */
export type MeanEstimate = {
  readonly value: number;
  /** Null with fewer than two clusters: nothing is known of the spread. */
  readonly standardError: number | null;
  readonly cases: number;
  readonly clusters: number;
};

/**
 * Weighted mean over cases with its cluster-robust standard error; null without a case that has weight.
 * Squared error = G/(G-1) x sum over clusters of (sum of w(x - mean))^2 / (sum of w)^2, the sandwich estimator of
 * Liang and Zeger (1986) for a mean, as in Miller, "Adding Error Bars to Evals" (2024). With clusters of one
 * case and equal weights this is s / sqrt(n).
 */
export function estimateMean(values: readonly CaseValue[]): MeanEstimate | null {
  const cases = toWeighted(values);
  if (cases.length === 0) return null;
  const weight = sum(cases.map((item) => item.weight));
  const value = sum(cases.map((item) => item.weight * item.value)) / weight;
  const clusters = toClusters(cases);
  const scores = clusters.map((cluster) => sum(cluster.map((item) => item.weight * (item.value - value))));
  const count = clusters.length;
  const variance = ((count / (count - 1)) * sum(scores.map((score) => score * score))) / (weight * weight);
  return {
    value,
    standardError: count < 2 ? null : isAllEqual(cases) ? 0 : Math.sqrt(variance),
    cases: cases.length,
    clusters: count,
  };
}

/** Exactly equal values have no spread; rounding of the mean must not invent one. */
const isAllEqual = (cases: readonly CaseValue[]): boolean =>
  cases.every((item) => item.value === cases[0]?.value);

/** Number of equally weighted clusters that carry the same information: (sum w)^2 / sum w^2 (Kish 1965). */
export function countEffective(values: readonly CaseValue[]): number {
  const weights = toClusters(toWeighted(values)).map((cluster) => sum(cluster.map((item) => item.weight)));
  if (weights.length === 0) return 0;
  return sum(weights) ** 2 / sum(weights.map((weight) => weight * weight));
}
