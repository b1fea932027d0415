import { countCasesNeeded } from '../statistics/cases-needed.ts';
import { adjustHolm } from '../statistics/holm.ts';
import { estimateMean } from '../statistics/mean.ts';
import { toPairedIntervals } from '../statistics/paired-interval.ts';
import { comparePaired, MIN_CLUSTERS, type Pair, toPairs } from '../statistics/paired.ts';
import { toPercentile } from '../statistics/percentile.ts';
import { toAttemptCost } from './attempt-costs.ts';
import { listChanges } from './case-changes.ts';
import type { ComparedPair, Comparison } from './comparison-schema.ts';
import { toMeanValues } from './figures.ts';
import type { Paired, Side, SidePair } from './pair-sides.ts';

export type { Comparison } from './comparison-schema.ts';

const ALPHA = 0.05;
const LISTED_CHANGES = 1_000;

/** Pairs compared case by case, their p-values adjusted for how many they are. Pure. */
export function compare({ pairs, notes }: Paired): Comparison {
  const compared = pairs.map(comparePair);
  const adjusted = adjustHolm(compared.map(({ p }) => p ?? 1));
  return {
    format: 'assay-comparison',
    version: 1,
    alpha: ALPHA,
    pairs: compared.map((pair, index) => conclude(pair, adjusted[index] ?? 1)),
    notes: [...notes],
  };
}

type Open = Omit<ComparedPair, 'adjustedP' | 'verdict'>;

function comparePair(sides: SidePair): Open {
  const { first, second } = sides;
  const [before, after] = [first, second].map((side) => toMeanValues(side.cells, side.request.attempts));
  const pairs = toPairs(after ?? [], before ?? []);
  const seed = second.seed;
  const found = comparePaired(after ?? [], before ?? [], { alpha: ALPHA, seed });
  const { main, bootstrap } = toPairedIntervals(pairs, { seed });
  const shared = new Set(pairs.map(({ own }) => own.caseId));
  const countOnly = (values: typeof before): number =>
    (values ?? []).filter((item) => item.weight > 0 && !shared.has(item.caseId)).length;
  const changes = listChanges(pairs, sides);
  return {
    first: toSide(
      first,
      pairs.map(({ other }) => other),
    ),
    second: toSide(
      second,
      pairs.map(({ own }) => own),
    ),
    cases: found.cases,
    clusters: found.clusters,
    onlyFirst: countOnly(before),
    onlySecond: countOnly(after),
    difference: found.difference,
    interval: main,
    bootstrap,
    method: found.method,
    p: found.p,
    better: found.wins,
    worse: found.losses,
    equal: found.ties,
    casesNeeded: found.isSeparated ? null : countCasesNeeded(found, ALPHA),
    changes: changes.slice(0, LISTED_CHANGES),
    changeCount: changes.length,
  };
}

function toSide(
  { runId, request, modelId, cells }: Side,
  values: readonly Pair['own'][],
): ComparedPair['first'] {
  const ids = new Set(values.map(({ caseId }) => caseId));
  const own = cells.filter(({ caseId, outcome }) => ids.has(caseId) && outcome?.kind === 'scored');
  return {
    runId,
    requestName: request.name,
    modelId,
    mean: estimateMean(values)?.value ?? null,
    attemptCostUsd: toAttemptCost(own),
    latencyP50Ms: toPercentile(
      own.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])),
      0.5,
    ),
  };
}

function conclude(pair: Open, adjustedP: number): ComparedPair {
  if (pair.p === null || pair.difference === null)
    return { ...pair, adjustedP: null, verdict: 'nothing_shared' };
  const isSeparated = adjustedP < ALPHA && pair.clusters >= MIN_CLUSTERS;
  const verdict = !isSeparated ? 'not_separated' : pair.difference > 0 ? 'better' : 'worse';
  return { ...pair, adjustedP, verdict };
}
