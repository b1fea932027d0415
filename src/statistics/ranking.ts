import { type CaseValue, toWeighted } from './case-values.ts';
import { estimateMean } from './mean.ts';
import { comparePaired, type PairedComparison } from './paired.ts';

export type RankEntry = { readonly modelId: string; readonly values: readonly CaseValue[] };

export type Ranked = {
  readonly modelId: string;
  /** 1 = best. Models of one band share a rank; the next band continues behind all of them. */
  readonly rank: number;
  readonly band: number;
  /** Mean over the cases that every ranked model has. */
  readonly sharedMean: number;
};

export type Ranking = {
  /** Best first. */
  readonly ranked: readonly Ranked[];
  /** Models with too few cases to be compared. */
  readonly unranked: readonly string[];
  readonly sharedCases: number;
  readonly sharedCaseIds: readonly string[];
  /** Level of each comparison: 5 % divided by the number of models behind the first (Bonferroni). */
  readonly alpha: number;
  /** First against second; null with fewer than two ranked models. */
  readonly topTwo: PairedComparison | null;
};

/** Models that can be compared, over the cases that each of them has; the names of the others. */
export type Comparable = {
  readonly shared: readonly RankEntry[];
  readonly unranked: readonly string[];
  readonly sharedCases: number;
  readonly sharedCaseIds: readonly string[];
  readonly alpha: number;
};

/** A model takes part when it has a value on at least this share of the cases of the model that has most. */
const MIN_SHARE = 0.5;

/**
 * Ranks models of one request. Only cases that every ranked model has are compared. Order: mean over those cases,
 * then the given order. The best model opens a band; each next model joins the band unless it can be separated from
 * the model that opened it (`comparePaired`), in which case it opens the next one. Deterministic.
 */
export function rankModels(entries: readonly RankEntry[]): Ranking {
  const { shared, ...facts } = selectComparable(entries);
  const { alpha } = facts;
  const ordered = shared
    .map((entry) => ({ ...entry, sharedMean: estimateMean(entry.values)?.value ?? 0 }))
    .toSorted((a, b) => b.sharedMean - a.sharedMean);
  const [first, second] = ordered;
  return {
    ...facts,
    ranked: toBands(ordered, alpha),
    topTwo:
      first === undefined || second === undefined
        ? null
        : comparePaired(first.values, second.values, { alpha }),
  };
}

/** Who takes part, and the cases that decide. */
export function selectComparable(entries: readonly RankEntry[]): Comparable {
  const most = Math.max(0, ...entries.map((entry) => toWeighted(entry.values).length));
  const takesPart = (entry: RankEntry): boolean => {
    const count = toWeighted(entry.values).length;
    return count > 0 && count >= MIN_SHARE * most;
  };
  const shared = keepShared(entries.filter(takesPart));
  return {
    shared,
    unranked: entries.filter((entry) => !takesPart(entry)).map((entry) => entry.modelId),
    sharedCases: shared[0]?.values.length ?? 0,
    sharedCaseIds: shared[0]?.values.map(({ caseId }) => caseId) ?? [],
    alpha: 0.05 / Math.max(1, shared.length - 1),
  };
}

function keepShared(entries: readonly RankEntry[]): readonly RankEntry[] {
  const counts = new Map<string, number>();
  for (const { values } of entries) {
    for (const { caseId } of toWeighted(values)) counts.set(caseId, (counts.get(caseId) ?? 0) + 1);
  }
  return entries.map((entry) => ({
    ...entry,
    values: toWeighted(entry.values).filter(({ caseId }) => counts.get(caseId) === entries.length),
  }));
}

type Ordered = RankEntry & { readonly sharedMean: number };

function toBands(ordered: readonly Ordered[], alpha: number): readonly Ranked[] {
  const ranked: Ranked[] = [];
  let opener: Ordered | null = null;
  let place = { rank: 1, band: 1 };
  for (const [index, entry] of ordered.entries()) {
    if (opener !== null && comparePaired(opener.values, entry.values, { alpha }).isSeparated) {
      place = { rank: index + 1, band: place.band + 1 };
      opener = entry;
    }
    opener ??= entry;
    ranked.push({ modelId: entry.modelId, sharedMean: entry.sharedMean, ...place });
  }
  return ranked;
}
