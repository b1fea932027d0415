import type { Metric } from '../domain/ranking-rule.ts';
import { type CaseValue, sum, toClusters } from './case-values.ts';
import { toNormalP } from './intervals.ts';
import { estimateMean } from './mean.ts';
import { MIN_CLUSTERS } from './paired.ts';
import { toPercentile } from './percentile.ts';
import { createRandom } from './random.ts';
import type { Ranked } from './ranking.ts';

/** One model: its values, and what its attempts took, by case. */
export type WeightedEntry = {
  readonly modelId: string;
  /** The same cases for every model, all with weight. */
  readonly values: readonly CaseValue[];
  readonly taken: ReadonlyMap<string, Taken>;
};

/** What the attempts of one case took, in US dollars and milliseconds. */
export type Taken = { readonly costsUsd: readonly number[]; readonly latenciesMs: readonly number[] };

export type Part = {
  readonly metric: Metric;
  /** Of 1. */
  readonly share: number;
  readonly value: number;
  /** 1 = as good as can be, or as the best. */
  readonly normalised: number;
};

export type Composite = { readonly value: number; readonly parts: readonly Part[] };

export type WeightedRanking = {
  /** Best first. */
  readonly ranked: readonly (Ranked & { readonly composite: Composite })[];
  /** Whether the first two can be told apart; null with fewer than two. */
  readonly isTopSeparated: boolean | null;
};

export type WeightedSettings = {
  readonly shares: readonly { readonly metric: Metric; readonly share: number }[];
  readonly alpha: number;
  readonly seed: number;
};

const RESAMPLES = 300;

/**
 * Ranks models by a weighted sum. Accuracy counts as it is; of the others a model gets the share that the best one
 * takes of what it takes: half as dear scores twice. Costs and latencies are those of attempts on the shared cases.
 * Two models are separated when the difference of their sums is further from 0 than chance: its standard error is that
 * of a paired bootstrap over clusters (Efron and Tibshirani 1993), which holds all metrics at once.
 */
export function rankWeighted(entries: readonly WeightedEntry[], settings: WeightedSettings): WeightedRanking {
  const measured = entries.map((entry) => ({ entry, values: measure(entry.values, entry, settings) }));
  const best = settings.shares.map((_, index) =>
    Math.min(...measured.map(({ values }) => values[index] ?? 0)),
  );
  const ordered = measured
    .map(({ entry, values }) => ({ ...entry, composite: toComposite(values, best, settings) }))
    .toSorted((a, b) => b.composite.value - a.composite.value);
  const test = createTest(ordered, { best, settings });
  const [first, second] = ordered;
  return {
    ranked: toBands(ordered, test),
    isTopSeparated: first === undefined || second === undefined ? null : test(first, second),
  };
}

type Ordered = WeightedEntry & { readonly composite: Composite };
type IsSeparated = (one: Ordered, other: Ordered) => boolean;

function measure(
  cases: readonly CaseValue[],
  { taken }: WeightedEntry,
  { shares }: WeightedSettings,
): readonly number[] {
  const gather = (of: (one: Taken) => readonly number[]): readonly number[] =>
    cases.flatMap(({ caseId }) => {
      const one = taken.get(caseId);
      return one === undefined ? [] : of(one);
    });
  return shares.map(({ metric }) => {
    switch (metric) {
      case 'accuracy':
        return estimateMean(cases)?.value ?? 0;
      case 'cost': {
        const costs = gather((one) => one.costsUsd);
        return sum(costs) / Math.max(1, costs.length);
      }
      case 'latencyP50':
        return (
          toPercentile(
            gather((one) => one.latenciesMs),
            0.5,
          ) ?? 0
        );
      case 'latencyP95':
        return (
          toPercentile(
            gather((one) => one.latenciesMs),
            0.95,
          ) ?? 0
        );
    }
  });
}

function toComposite(
  values: readonly number[],
  best: readonly number[],
  { shares }: WeightedSettings,
): Composite {
  const parts = shares.map(({ metric, share }, index): Part => {
    const value = values[index] ?? 0;
    const normalised = metric === 'accuracy' ? value : toShareOfBest(value, best[index] ?? 0);
    return { metric, share, value, normalised };
  });
  return { value: sum(parts.map((part) => part.share * part.normalised)), parts };
}

/** Nothing taken is as good as can be, also where the best takes nothing. */
const toShareOfBest = (value: number, best: number): number => (value <= 0 ? 1 : Math.min(1, best / value));

type TestFacts = { readonly best: readonly number[]; readonly settings: WeightedSettings };

/** The sums of every model on the same drawn clusters, drawn once for all pairs. */
function createTest(ordered: readonly Ordered[], { best, settings }: TestFacts): IsSeparated {
  const clusters = toClusters(ordered[0]?.values ?? []);
  const places = clusters.map((cluster) => cluster.map(({ caseId }) => caseId));
  const byCase = new Map(
    ordered.map(({ modelId, values }) => [modelId, new Map(values.map((one) => [one.caseId, one]))]),
  );
  const random = createRandom(settings.seed);
  const draws = Array.from({ length: RESAMPLES }, () =>
    places.flatMap(() => places[Math.floor(random() * places.length)] ?? []),
  );
  const sums = new Map(
    ordered.map((entry) => {
      const own = byCase.get(entry.modelId);
      const values = draws.map((caseIds) => {
        const drawn = caseIds.flatMap((caseId) => own?.get(caseId) ?? []);
        return toComposite(measure(drawn, entry, settings), best, settings).value;
      });
      return [entry.modelId, values] as const;
    }),
  );
  return (one, other) => {
    if (places.length < MIN_CLUSTERS) return false;
    const [own, theirs] = [sums.get(one.modelId) ?? [], sums.get(other.modelId) ?? []];
    const spread = toDeviation(own.map((value, index) => value - (theirs[index] ?? 0)));
    const difference = one.composite.value - other.composite.value;
    // The same difference whatever is drawn: as good as a clean sweep of the clusters.
    if (spread < 1e-12) return Math.abs(difference) > 1e-9 && 2 * 0.5 ** places.length < settings.alpha;
    return toNormalP(difference / spread) < settings.alpha;
  };
}

function toDeviation(values: readonly number[]): number {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
}

function toBands(ordered: readonly Ordered[], isSeparated: IsSeparated): WeightedRanking['ranked'] {
  let opener: Ordered | null = null;
  let place = { rank: 1, band: 1 };
  return ordered.map((entry, index) => {
    if (opener !== null && isSeparated(opener, entry)) {
      place = { rank: index + 1, band: place.band + 1 };
      opener = entry;
    }
    opener ??= entry;
    const { modelId, composite, values } = entry;
    return { modelId, sharedMean: estimateMean(values)?.value ?? 0, composite, ...place };
  });
}
