/** Scored attempts of one case, and how many of them passed. */
export type CaseTally = { readonly attempts: number; readonly passes: number };

/** A mean over the cases that have enough attempts; null when none has. */
export type PassFigure = {
  readonly k: number;
  readonly value: number | null;
  /** Cases with at least k scored attempts. */
  readonly cases: number;
  readonly ofCases: number;
};

/**
 * Chance that at least one of k attempts passes, averaged over cases: 1 - C(n-c, k) / C(n, k), the unbiased
 * estimator of Chen et al. (2021). A case with fewer than k scored attempts has no value, neither 0 nor 1.
 */
export const estimatePassAtK = (cases: readonly CaseTally[], k: number): PassFigure =>
  average(cases, k, ({ attempts, passes }) => 1 - chooseRatio(attempts - passes, attempts, k));

/** Chance that all of k attempts pass, averaged over cases: C(c, k) / C(n, k) (pass^k of Yao et al. 2024). */
export const estimatePassHatK = (cases: readonly CaseTally[], k: number): PassFigure =>
  average(cases, k, ({ attempts, passes }) => chooseRatio(passes, attempts, k));

function average(cases: readonly CaseTally[], k: number, estimate: (tally: CaseTally) => number): PassFigure {
  const enough = cases.filter((tally) => tally.attempts >= k);
  const total = enough.reduce((sum, tally) => sum + estimate(tally), 0);
  const value = enough.length === 0 ? null : total / enough.length;
  return { k, value, cases: enough.length, ofCases: cases.length };
}

/** C(part, k) / C(whole, k) as a product of k factors, without large numbers. */
function chooseRatio(part: number, whole: number, k: number): number {
  let ratio = 1;
  for (let index = 0; index < k; index += 1) {
    ratio *= Math.max(0, part - index) / (whole - index);
  }
  return ratio;
}
