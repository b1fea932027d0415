/** One attempt with a value; attempts of one case, and cases of one cluster, are not independent. */
export type AttemptValue = {
  readonly caseId: string;
  readonly cluster: string | null;
  /** Weight of the case, at least 0. */
  readonly weight: number;
  readonly value: number;
};

/** One case: the mean of its attempts. */
export type CaseValue = AttemptValue & { readonly attempts: number };

/** How the attempts of a case become one value: their mean, or the best one when they stop at a pass. */
export type Combine = 'mean' | 'best';

/** Attempts averaged per case first, in the order in which the cases appear. */
export function toCaseValues(
  attempts: readonly AttemptValue[],
  combine: Combine = 'mean',
): readonly CaseValue[] {
  const groups = Map.groupBy(attempts, (attempt) => attempt.caseId);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const values = group.map((attempt) => attempt.value);
    const value = combine === 'best' ? Math.max(...values) : sum(values) / values.length;
    return [{ ...first, value, attempts: group.length }];
  });
}

/** Cases that carry weight: one with weight 0 is shown and never counted. */
export const toWeighted = (cases: readonly CaseValue[]): readonly CaseValue[] =>
  cases.filter((item) => item.weight > 0);

/** The cases of one cluster together; a case without a cluster is its own. */
export const toClusters = (cases: readonly CaseValue[]): readonly (readonly CaseValue[])[] => [
  ...Map.groupBy(cases, toClusterKey).values(),
];

/** Prefixed, so that a cluster and a case of the same name stay apart. */
const toClusterKey = ({ cluster, caseId }: CaseValue): string =>
  cluster === null ? `case ${caseId}` : `cluster ${cluster}`;

/** Compensated sum (Neumaier 1974), so that the order of cases does not show in the last digits. */
export function sum(values: readonly number[]): number {
  let total = 0;
  let lost = 0;
  for (const value of values) {
    const next = total + value;
    lost += Math.abs(total) >= Math.abs(value) ? total - next + value : value - next + total;
    total = next;
  }
  return total + lost;
}
