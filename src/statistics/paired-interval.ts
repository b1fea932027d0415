import { bootstrapMean } from './bootstrap.ts';
import { type Interval, LEVEL, toTInterval, toWilsonInterval } from './intervals.ts';
import { estimateMean } from './mean.ts';
import { isBinary, type Pair } from './paired.ts';
import { createRandom } from './random.ts';

export type PairedInterval = Interval & { readonly method: 'newcombe' | 't' | 'bootstrap' };

/**
 * Intervals of the mean difference of pairs, first minus second.
 * - `main`: Newcombe's for pairs of 0 and 1 with equal weights and independent cases; else the t interval with the
 *   clustered standard error, cut to -1..1. Null with fewer than two clusters, or without spread: a width of 0 proves nothing.
 * - `bootstrap`: percentile bootstrap over clusters, for graded values; null for the others.
 */
export function toPairedIntervals(
  pairs: readonly Pair[],
  { seed, level = LEVEL }: { readonly seed: number; readonly level?: number },
): { readonly main: PairedInterval | null; readonly bootstrap: PairedInterval | null } {
  const differences = pairs.map(({ own, other }) => ({ ...own, value: own.value - other.value }));
  const estimate = estimateMean(differences);
  if (estimate === null) return { main: null, bootstrap: null };
  if (isBinary(pairs) && estimate.clusters === estimate.cases) {
    return { main: toNewcombeInterval(countPairs(pairs), level), bootstrap: null };
  }
  if (estimate.standardError === 0) return { main: null, bootstrap: null };
  const t = toTInterval(estimate, level);
  const drawn = bootstrapMean(differences, { random: createRandom(seed), level });
  return {
    main: t && { low: Math.max(-1, t.low), high: Math.min(1, t.high), level, method: 't' },
    bootstrap: drawn && { ...drawn, method: 'bootstrap' },
  };
}

/** Pairs of passes: both, the first alone, the second alone, neither. */
export type PairCounts = {
  readonly both: number;
  readonly first: number;
  readonly second: number;
  readonly neither: number;
};

function countPairs(pairs: readonly Pair[]): PairCounts {
  const count = (own: number, other: number): number =>
    pairs.filter((pair) => pair.own.value === own && pair.other.value === other).length;
  return { both: count(1, 1), first: count(1, 0), second: count(0, 1), neither: count(0, 0) };
}

/**
 * Interval of the difference of two paired rates (Newcombe 1998, Statistics in Medicine 17:2635, method 10): Wilson's
 * limits of each, squared and added with the correlation of the pairs. Null without a pair.
 */
export function toNewcombeInterval(counts: PairCounts, level = LEVEL): PairedInterval | null {
  const { both, first, second, neither } = counts;
  const pairs = both + first + second + neither;
  const one = toWilsonInterval({ rate: (both + first) / pairs, count: pairs }, level);
  const two = toWilsonInterval({ rate: (both + second) / pairs, count: pairs }, level);
  if (one === null || two === null) return null;
  const [p, q] = [(both + first) / pairs, (both + second) / pairs];
  const phi = toCorrelation(counts);
  const join = (a: number, b: number): number => Math.sqrt(Math.max(0, a * a - 2 * phi * a * b + b * b));
  return {
    low: p - q - join(p - one.low, two.high - q),
    high: p - q + join(one.high - p, q - two.low),
    level,
    method: 'newcombe',
  };
}

/** Phi of the fourfold table, its numerator reduced by half the pairs where it is positive. */
function toCorrelation({ both, first, second, neither }: PairCounts): number {
  const product = (both + first) * (second + neither) * (both + second) * (first + neither);
  if (product === 0) return 0;
  const excess = both * neither - first * second;
  const half = (both + first + second + neither) / 2;
  return (excess > 0 ? Math.max(0, excess - half) : excess) / Math.sqrt(product);
}
