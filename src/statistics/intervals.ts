import normalQuantile from '@stdlib/stats-base-dists-normal-quantile';
import tQuantile from '@stdlib/stats-base-dists-t-quantile';
import type { MeanEstimate } from './mean.ts';

/** A two-sided confidence interval. */
export type Interval = {
  readonly low: number;
  readonly high: number;
  /** 0.95 unless asked for otherwise. */
  readonly level: number;
};

export const LEVEL = 0.95;

/** Student's t interval with (clusters - 1) degrees of freedom; null without a standard error. */
export function toTInterval(estimate: MeanEstimate, level = LEVEL): Interval | null {
  if (estimate.standardError === null) return null;
  const reach = tQuantile(1 - (1 - level) / 2, estimate.clusters - 1) * estimate.standardError;
  return { low: estimate.value - reach, high: estimate.value + reach, level };
}

/**
 * Interval of a mean of values in 0..1: the t interval, cut to that range. When every case has the same value 0
 * or 1 the t interval has no width, so Wilson's interval over the clusters stands in for it.
 */
export function toMeanInterval(estimate: MeanEstimate, level = LEVEL): Interval | null {
  const isExtreme = estimate.value === 0 || estimate.value === 1;
  if (estimate.standardError === 0 && isExtreme) {
    return toWilsonInterval({ rate: estimate.value, count: estimate.clusters }, level);
  }
  const interval = toTInterval(estimate, level);
  return interval && { level, low: Math.max(0, interval.low), high: Math.min(1, interval.high) };
}

/**
 * Wilson's score interval of a rate (Wilson 1927) over `count` independent observations, which need not be whole
 * numbers; null when there is none.
 */
export function toWilsonInterval(
  { rate, count }: { readonly rate: number; readonly count: number },
  level = LEVEL,
): Interval | null {
  if (!(count > 0)) return null;
  const z = toZ(level);
  const share = (z * z) / count;
  const centre = (rate + share / 2) / (1 + share);
  const reach = (z / (1 + share)) * Math.sqrt((rate * (1 - rate)) / count + share / (4 * count));
  // At 0 and 1 a limit is exactly the rate; rounding must not move it past.
  const low = rate === 0 ? 0 : Math.max(0, centre - reach);
  const high = rate === 1 ? 1 : Math.min(1, centre + reach);
  return { low, high, level };
}

/** The point of the normal distribution that leaves half of the rest on either side. */
export const toZ = (level: number): number => normalQuantile(1 - (1 - level) / 2, 0, 1);

/** Two-sided p-value of a standard normal figure: the quantile function, solved for its argument on a log scale. */
export function toNormalP(z: number): number {
  let [low, high] = [-700, 0];
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (normalQuantile(Math.exp(middle) / 2, 0, 1) < -Math.abs(z)) low = middle;
    else high = middle;
  }
  return Math.exp((low + high) / 2);
}
