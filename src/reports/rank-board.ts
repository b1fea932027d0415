import { listBroken, type Metric, type RankingRule, toShares } from '../domain/ranking-rule.ts';
import type { ReportCell } from '../domain/report-rows.ts';
import type { CaseValue } from '../statistics/case-values.ts';
import { rankModels, type Ranked, type Ranking, selectComparable } from '../statistics/ranking.ts';
import { type Composite, rankWeighted } from '../statistics/weighted-ranking.ts';
import { toAttemptCost, toTaken } from './attempt-costs.ts';
import type { Figures } from './figure-schema.ts';

/** One model of a board before it has a place. */
export type Entrant = {
  readonly modelId: string;
  readonly values: readonly CaseValue[];
  readonly figures: Figures;
  readonly cells: readonly ReportCell[];
};

export type BoardRanking = Omit<Ranking, 'ranked' | 'unranked'> & {
  readonly ranked: readonly (Ranked & { readonly composite: Composite | null })[];
  /** Constraints that a model does not keep. */
  readonly disqualified: ReadonlyMap<string, readonly string[]>;
  /** Why a model cannot be weighed. */
  readonly unweighed: ReadonlyMap<string, string>;
  /** Whether weights tell the first two apart; null = they were compared by accuracy alone. */
  readonly isTopSeparated: boolean | null;
};

/** Gate, then normalise, weigh and rank what is left. */
export function rankBoard(
  entrants: readonly Entrant[],
  { rule, seed }: { readonly rule: RankingRule; readonly seed: number },
): BoardRanking {
  const shares = toShares(rule.weights);
  const disqualified = new Map(
    entrants.flatMap((entrant) => {
      const broken =
        entrant.figures.mean === null ? [] : listBroken(toConstrained(entrant), rule.constraints);
      return broken.length === 0 ? [] : [[entrant.modelId, broken] as const];
    }),
  );
  const eligible = entrants.filter(({ modelId }) => !disqualified.has(modelId));
  if (shares.every(({ metric }) => metric === 'accuracy')) {
    const { ranked, ...ranking } = rankModels(eligible);
    const plain = ranked.map((one) => ({ ...one, composite: null }));
    return { ...ranking, ranked: plain, disqualified, unweighed: new Map(), isTopSeparated: null };
  }
  const unweighed = new Map(
    eligible.flatMap((entrant) => {
      const missing = shares.map(({ metric }) => findMissing(entrant, metric)).find((text) => text !== null);
      return missing === undefined ? [] : [[entrant.modelId, missing] as const];
    }),
  );
  const {
    shared,
    unranked: _unranked,
    ...facts
  } = selectComparable(eligible.filter(({ modelId }) => !unweighed.has(modelId)));
  const taken = new Map(eligible.map(({ modelId, cells }) => [modelId, toTaken(cells)]));
  const weighted = rankWeighted(
    shared.map((entry) => ({ ...entry, taken: taken.get(entry.modelId) ?? new Map() })),
    { shares, alpha: facts.alpha, seed },
  );
  return { ...facts, ...weighted, topTwo: null, disqualified, unweighed };
}

const toConstrained = ({ figures, cells }: Entrant): Parameters<typeof listBroken>[0] => {
  const { scored, unscored, error } = figures.outcomes;
  const ended = scored + unscored + error;
  return {
    accuracy: figures.mean?.value ?? null,
    errorRate: ended === 0 ? null : error / ended,
    costUsd: toAttemptCost(cells),
    latencyP95Ms: figures.latency?.p95Ms ?? null,
  };
};

function findMissing({ figures, cells, values }: Entrant, metric: Metric): string | null {
  if (values.length === 0) return null;
  switch (metric) {
    case 'accuracy':
      return null;
    case 'cost':
      return toAttemptCost(cells) === null ? 'its cost is not known, and the ranking weighs cost' : null;
    case 'latencyP50':
    case 'latencyP95':
      return figures.latency === null ? 'its latency is not known, and the ranking weighs latency' : null;
  }
}
