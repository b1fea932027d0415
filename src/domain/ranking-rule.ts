/** What a leaderboard may weigh; of all but accuracy less is better. */
export const METRICS = ['accuracy', 'cost', 'latencyP50', 'latencyP95'] as const;
export type Metric = (typeof METRICS)[number];

/** How the models of a board are ranked. */
export type RankingRule = {
  /** At least 0 each; none above 0 = accuracy alone. */
  readonly weights: { readonly [metric in Metric]?: number };
  readonly constraints: Constraints;
};

/** What a model must keep to be ranked; null = no such rule. */
export type Constraints = {
  readonly minAccuracy: number | null;
  /** Share of attempts that ended as error, of those that ended as scored, unscored or error. */
  readonly maxErrorRate: number | null;
  /** Mean of an attempt. */
  readonly maxCostUsd: number | null;
  readonly maxLatencyP95Ms: number | null;
};

export const NO_CONSTRAINTS: Constraints = {
  minAccuracy: null,
  maxErrorRate: null,
  maxCostUsd: null,
  maxLatencyP95Ms: null,
};

/** Weights above 0, as shares of 1; accuracy alone where there is none. */
export function toShares(weights: RankingRule['weights']): readonly { metric: Metric; share: number }[] {
  const given = METRICS.map((metric) => ({ metric, weight: weights[metric] ?? 0 })).filter(
    ({ weight }) => weight > 0,
  );
  const total = given.reduce((sum, { weight }) => sum + weight, 0);
  if (given.length === 0) return [{ metric: 'accuracy', share: 1 }];
  return given.map(({ metric, weight }) => ({ metric, share: weight / total }));
}

/** Figures of one model that constraints look at; null = not measured. */
export type Constrained = {
  readonly accuracy: number | null;
  readonly errorRate: number | null;
  readonly costUsd: number | null;
  readonly latencyP95Ms: number | null;
};

/** Constraints that a model does not keep, a sentence each. A figure that does not exist keeps none. */
export function listBroken(figures: Constrained, constraints: Constraints): readonly string[] {
  const { minAccuracy, maxErrorRate, maxCostUsd, maxLatencyP95Ms } = constraints;
  return [
    explain('accuracy', figures.accuracy, { least: minAccuracy }),
    explain('error rate', figures.errorRate, { most: maxErrorRate }),
    explain('cost of an attempt in USD', figures.costUsd, { most: maxCostUsd }),
    explain('latency p95 in ms', figures.latencyP95Ms, { most: maxLatencyP95Ms }),
  ].filter((text) => text !== null);
}

/** Tolerates what adding binary fractions does to a figure that equals its limit. */
const SLACK = 1e-9;

function explain(
  what: string,
  measured: number | null,
  { least = null, most = null }: { readonly least?: number | null; readonly most?: number | null },
): string | null {
  const limit = least ?? most;
  if (limit === null) return null;
  const side = least === null ? 'at most' : 'at least';
  if (measured === null) return `${what} is not known, ${side} ${toText(limit)} is required`;
  const isKept = least === null ? measured <= limit + SLACK : measured >= limit - SLACK;
  return isKept ? null : `${what} ${toText(measured)}, ${side} ${toText(limit)} is required`;
}

const toText = (value: number): string => String(Number(value.toPrecision(4)));
