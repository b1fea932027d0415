import type { Metric } from '../domain/ranking-rule.ts';
import { type CaseValue, sum, toClusters } from './case-values.ts';
import { toNormalP } from './intervals.ts';
import { estimateMean } from './mean.ts';
import { MIN_CLUSTERS } from './paired.ts';
import { createRandom, type Random } from './random.ts';
import type { Ranked } from './ranking.ts';
import { measure, type MetricTable, type Taken, toMetricTable } from './resampled-metrics.ts';

/** One model: its values, and what its attempts took, by case. */
export type WeightedEntry = {
  readonly modelId: string;
  /** The same cases for every model, all with weight. */
  readonly values: readonly CaseValue[];
  readonly taken: ReadonlyMap<string, Taken>;
};

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
  const tables = entries.map((entry) => ({ entry, table: toMetricTable(entry.values, entry.taken) }));
  const once = new Int32Array(entries[0]?.values.length ?? 0).fill(1);
  const measureAll = (table: MetricTable, counts: Int32Array): readonly number[] =>
    settings.shares.map(({ metric }) => measure(table, metric, counts));
  const measured = tables.map((one) => ({ ...one, values: measureAll(one.table, once) }));
  const best = settings.shares.map((_, index) =>
    Math.min(...measured.map(({ values }) => values[index] ?? 0)),
  );
  const toSum = (table: MetricTable, counts: Int32Array): number =>
    toComposite(measureAll(table, counts), best, settings).value;
  const ordered = measured
    .map(({ entry, table, values }) => ({ ...entry, table, composite: toComposite(values, best, settings) }))
    .toSorted((a, b) => b.composite.value - a.composite.value);
  const test = createTest(ordered, { toSum, settings });
  const [first, second] = ordered;
  return {
    ranked: toBands(ordered, test),
    isTopSeparated: first === undefined || second === undefined ? null : test(first, second),
  };
}

type Ordered = WeightedEntry & { readonly table: MetricTable; readonly composite: Composite };
type IsSeparated = (one: Ordered, other: Ordered) => boolean;

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

type TestFacts = {
  readonly toSum: (table: MetricTable, counts: Int32Array) => number;
  readonly settings: WeightedSettings;
};

/** The sums of every model on the same drawn clusters, drawn once for all pairs. */
function createTest(ordered: readonly Ordered[], { toSum, settings }: TestFacts): IsSeparated {
  const cases = ordered[0]?.values ?? [];
  const placeOf = new Map(cases.map(({ caseId }, place) => [caseId, place]));
  const clusters = toClusters(cases).map((own) => own.map(({ caseId }) => placeOf.get(caseId) ?? 0));
  const draws = drawClusters(clusters, cases.length, createRandom(settings.seed));
  const sums = new Map(
    ordered.map(({ modelId, table }) => [modelId, draws.map((counts) => toSum(table, counts))]),
  );
  return (one, other) => {
    if (clusters.length < MIN_CLUSTERS) return false;
    const [own, theirs] = [sums.get(one.modelId) ?? [], sums.get(other.modelId) ?? []];
    const spread = toDeviation(own.map((value, index) => value - (theirs[index] ?? 0)));
    const difference = one.composite.value - other.composite.value;
    // The same difference whatever is drawn: as good as a clean sweep of the clusters.
    if (spread < 1e-12) return Math.abs(difference) > 1e-9 && 2 * 0.5 ** clusters.length < settings.alpha;
    return toNormalP(difference / spread) < settings.alpha;
  };
}

/** How often each case counts, for each resample: whole clusters are drawn, as many as there are. */
function drawClusters(
  clusters: readonly (readonly number[])[],
  size: number,
  random: Random,
): readonly Int32Array[] {
  return Array.from({ length: RESAMPLES }, () => {
    const counts = new Int32Array(size);
    for (let draw = 0; draw < clusters.length; draw += 1) {
      for (const place of clusters[Math.floor(random() * clusters.length)] ?? [])
        counts[place] = (counts[place] ?? 0) + 1;
    }
    return counts;
  });
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
