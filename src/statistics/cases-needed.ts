import { toZ } from './intervals.ts';
import { MIN_CLUSTERS, type PairedComparison } from './paired.ts';

const POWER = 0.8;

/**
 * Cases that would settle a difference of this size with 80 % power: ((z(alpha/2) + z(power)) x sd / difference)^2,
 * the normal approximation (Cohen 1988), where sd is per case and holds what clusters do to it. Null when there is no
 * difference, or when the number is out of reach (over 10,000 or over a hundred times what there is).
 */
export function countCasesNeeded(comparison: PairedComparison, alpha: number): number | null {
  const { difference, standardError, cases } = comparison;
  if (difference === null || difference === 0 || standardError === null) return null;
  const deviation = standardError * Math.sqrt(cases);
  const needed = toSampleSize({ difference, deviation, alpha });
  const count = Math.max(cases + 1, MIN_CLUSTERS, Math.ceil(needed));
  return count > 10_000 || count > 100 * cases ? null : count;
}

/** Not rounded. */
export function toSampleSize(facts: {
  readonly difference: number;
  /** Of one case's difference. */
  readonly deviation: number;
  readonly alpha: number;
}): number {
  // toZ halves what is outside, so that a one-sided point is asked for by twice as much.
  const reach = toZ(1 - facts.alpha) + toZ(2 * POWER - 1);
  return ((reach * facts.deviation) / facts.difference) ** 2;
}
