import { type CaseValue, sum, toClusters, toWeighted } from './case-values.ts';
import { toNormalP } from './intervals.ts';
import type { Random } from './random.ts';

/** With at most so many clusters that differ every sign is tried: a million sums. */
const EXACT_CLUSTERS = 20;
/** Beyond so many the sum of random signs is normal for all that can be told apart. */
const DRAWN_CLUSTERS = 1_000;
const DRAWS = 10_000;

/** Sums of the same terms in another order are equal. */
const SLACK = 1e-9;

/**
 * Two-sided p-value of a paired permutation test (Fisher 1935; Pitman 1937): were the two alike, each cluster's
 * weighted difference could as well have had the other sign. Exact over all signs with at most 20 clusters that
 * differ; with up to 1,000 over 10,000 draws, where the observed signs count as one more (Phipson and Smyth 2010), so
 * that p is never 0; with more by the normal limit of the same distribution. 1 when nothing differs.
 */
export function testSignFlips(differences: readonly CaseValue[], random: Random): number {
  const terms = toClusters(toWeighted(differences))
    .map((cluster) => sum(cluster.map((item) => item.weight * item.value)))
    .filter((term) => term !== 0);
  if (terms.length > DRAWN_CLUSTERS) {
    return toNormalP(sum(terms) / Math.sqrt(sum(terms.map((term) => term * term))));
  }
  const least = Math.abs(sum(terms)) - SLACK * sum(terms.map(Math.abs));
  return terms.length <= EXACT_CLUSTERS ? countAll(terms, least) : countDrawn(terms, least, random);
}

/** Share of all signs whose sum is at least as far from 0. Each step changes one sign (Gray code). */
function countAll(terms: readonly number[], least: number): number {
  if (terms.length === 0) return 1;
  const signed = [...terms];
  let total = sum(terms);
  // Signs that are all the other way round give the same distance: the last term keeps its sign.
  const steps = 2 ** (terms.length - 1);
  let far = 0;
  for (let step = 1; step <= steps; step += 1) {
    if (Math.abs(total) >= least) far += 1;
    const at = 31 - Math.clz32(step & -step);
    const term = signed[at] ?? 0;
    signed[at] = -term;
    total -= 2 * term;
  }
  return far / steps;
}

function countDrawn(terms: readonly number[], least: number, random: Random): number {
  const doubled = Float64Array.from(terms, (term) => 2 * term);
  const whole = sum(terms);
  let far = 0;
  for (let draw = 0; draw < DRAWS; draw += 1) {
    let total = whole;
    let bits = 0;
    for (let index = 0; index < doubled.length; index += 1) {
      if ((index & 31) === 0) bits = (random() * 2 ** 32) | 0;
      total -= (bits & 1) * (doubled[index] ?? 0);
      bits >>= 1;
    }
    if (Math.abs(total) >= least) far += 1;
  }
  return (far + 1) / (DRAWS + 1);
}
