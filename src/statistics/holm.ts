/**
 * P-values adjusted for how many comparisons were made (Holm 1979, step-down), in the given order: one that is
 * below alpha separates, with a chance of at most alpha that any of them is wrong.
 */
export function adjustHolm(pValues: readonly number[]): readonly number[] {
  const order = pValues.map((p, index) => ({ p, index })).toSorted((a, b) => a.p - b.p);
  const adjusted = pValues.map(() => 1);
  let most = 0;
  for (const [rank, { p, index }] of order.entries()) {
    most = Math.max(most, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = most;
  }
  return adjusted;
}
