import { type CaseValue, sum, toClusters, toWeighted } from './case-values.ts';
import { type Interval, LEVEL } from './intervals.ts';
import { toPercentile } from './percentile.ts';
import type { Random } from './random.ts';

export type BootstrapSettings = {
  readonly random: Random;
  /** 2,000 unless given. */
  readonly resamples?: number;
  /** 0.95 unless given. */
  readonly level?: number;
};

/**
 * Percentile bootstrap of a weighted mean (Efron 1979; Davison and Hinkley 1997, section 5.3): whole clusters are
 * drawn with replacement, as many as there are, one draw of `random` each, and the limits are percentiles of the
 * means. Null with fewer than two clusters. Without spread both limits are the mean: that proves nothing.
 */
export function bootstrapMean(
  values: readonly CaseValue[],
  { random, resamples = 2_000, level = LEVEL }: BootstrapSettings,
): Interval | null {
  const clusters = toClusters(toWeighted(values)).map((cluster) => ({
    weight: sum(cluster.map((item) => item.weight)),
    total: sum(cluster.map((item) => item.weight * item.value)),
  }));
  if (clusters.length < 2) return null;
  const means = Array.from({ length: resamples }, () => {
    let [weight, total] = [0, 0];
    for (let index = 0; index < clusters.length; index += 1) {
      const drawn = clusters[Math.floor(random() * clusters.length)];
      weight += drawn?.weight ?? 0;
      total += drawn?.total ?? 0;
    }
    return total / weight;
  });
  const low = toPercentile(means, (1 - level) / 2);
  const high = toPercentile(means, (1 + level) / 2);
  return low === null || high === null ? null : { low, high, level };
}
