import { type CaseValue, sum, toWeighted } from './case-values.ts';
import { estimateMean } from './mean.ts';
import { createRandom } from './random.ts';
import { testSignFlips } from './sign-flips.ts';

/** Two models on the cases that both have. Differences are first minus second. */
export type PairedComparison = {
  readonly cases: number;
  readonly clusters: number;
  readonly difference: number | null;
  readonly standardError: number | null;
  readonly wins: number;
  readonly losses: number;
  readonly ties: number;
  /** Null = no shared case. */
  readonly method: PairedMethod | null;
  /** Two-sided; null without a shared case. */
  readonly p: number | null;
  /** Whether the difference is more than chance at the level `alpha`. */
  readonly isSeparated: boolean;
};

export type PairedMethod = 'mcnemar' | 'permutation';

export type PairedSettings = {
  readonly alpha: number;
  /** Of the draws of a permutation test; 0 unless given. */
  readonly seed?: number;
};

/** With fewer independent cases not even a clean sweep is significant at 5 % (2 x 0.5^5 > 0.05). */
export const MIN_CLUSTERS = 6;

/**
 * Compares two models case by case, over shared cases only.
 * - fewer than six clusters: never separated;
 * - every value 0 or 1, equal weights and independent cases: exact McNemar test (binomial over the cases that differ);
 * - else: a permutation test over the signs of the clusters' differences.
 */
export function comparePaired(
  first: readonly CaseValue[],
  second: readonly CaseValue[],
  { alpha, seed = 0 }: PairedSettings,
): PairedComparison {
  const pairs = toPairs(first, second);
  const differences = pairs.map(({ own, other }) => ({ ...own, value: own.value - other.value }));
  const estimate = estimateMean(differences);
  const wins = differences.filter((item) => item.value > 0).length;
  const losses = differences.filter((item) => item.value < 0).length;
  const counts = { wins, losses, ties: differences.length - wins - losses };
  const isPlain = isBinary(pairs) && estimate?.clusters === estimate?.cases;
  const method = estimate === null ? null : isPlain ? 'mcnemar' : 'permutation';
  const p = toP({ method, differences, counts, seed });
  return {
    cases: differences.length,
    clusters: estimate?.clusters ?? 0,
    difference: estimate?.value ?? null,
    standardError: estimate?.standardError ?? null,
    ...counts,
    method,
    p,
    isSeparated: estimate !== null && p !== null && estimate.clusters >= MIN_CLUSTERS && p < alpha,
  };
}

export type Pair = { readonly own: CaseValue; readonly other: CaseValue };

/** Cases with weight that both have, in the order of the first. */
export function toPairs(first: readonly CaseValue[], second: readonly CaseValue[]): readonly Pair[] {
  const others = new Map(second.map((item) => [item.caseId, item]));
  return toWeighted(first).flatMap((own) => {
    const other = others.get(own.caseId);
    return other === undefined ? [] : [{ own, other }];
  });
}

/** Whether every value is 0 or 1 and every case counts alike. */
export const isBinary = (pairs: readonly Pair[]): boolean =>
  pairs.every(
    ({ own, other }) =>
      [own.value, other.value].every((value) => value === 0 || value === 1) &&
      own.weight === pairs[0]?.own.weight,
  );

type TestFacts = {
  readonly method: PairedMethod | null;
  readonly differences: readonly CaseValue[];
  readonly counts: { readonly wins: number; readonly losses: number };
  readonly seed: number;
};

function toP({ method, differences, counts, seed }: TestFacts): number | null {
  switch (method) {
    case 'mcnemar':
      return toBinomialP(counts.wins, counts.losses);
    case 'permutation':
      return testSignFlips(differences, createRandom(seed));
    case null:
      return null;
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
