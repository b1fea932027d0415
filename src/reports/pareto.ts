export type CostAndQuality = {
  readonly modelId: string;
  readonly mean: number;
  /** Null = not known: such a model can neither be on the front nor push another from it. */
  readonly costUsd: number | null;
};

/** Models that no other one beats on one of cost and quality without losing on the other (Pareto front). */
export const findFront = (models: readonly CostAndQuality[]): ReadonlySet<string> =>
  new Set(
    models
      .filter((one) => one.costUsd !== null && !models.some((other) => dominates(other, one)))
      .map(({ modelId }) => modelId),
  );

function dominates(other: CostAndQuality, one: CostAndQuality): boolean {
  if (other.costUsd === null || one.costUsd === null) return false;
  const isNoWorse = other.mean >= one.mean && other.costUsd <= one.costUsd;
  return isNoWorse && (other.mean > one.mean || other.costUsd < one.costUsd);
}
