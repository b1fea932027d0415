import type { Metric } from '../domain/ranking-rule.ts';
import type { CaseValue } from './case-values.ts';

/** What the attempts of one case took, in US dollars and milliseconds. */
export type Taken = { readonly costsUsd: readonly number[]; readonly latenciesMs: readonly number[] };

/** One model's figures by the place of the case, so that a metric of any drawn set of cases is one pass. */
export type MetricTable = {
  readonly weights: Float64Array;
  readonly values: Float64Array;
  readonly costs: Float64Array;
  readonly costCounts: Float64Array;
  /** All latencies, the shortest first, with the place of their case. */
  readonly latencies: readonly { readonly latencyMs: number; readonly place: number }[];
};

export function toMetricTable(values: readonly CaseValue[], taken: ReadonlyMap<string, Taken>): MetricTable {
  const of = values.map(({ caseId }) => taken.get(caseId) ?? { costsUsd: [], latenciesMs: [] });
  return {
    weights: Float64Array.from(values, ({ weight }) => weight),
    values: Float64Array.from(values, ({ value }) => value),
    costs: Float64Array.from(of, ({ costsUsd }) => costsUsd.reduce((total, cost) => total + cost, 0)),
    costCounts: Float64Array.from(of, ({ costsUsd }) => costsUsd.length),
    latencies: of
      .flatMap(({ latenciesMs }, place) => latenciesMs.map((latencyMs) => ({ latencyMs, place })))
      .toSorted((a, b) => a.latencyMs - b.latencyMs),
  };
}

/** A metric over cases that count so often; 0 where there is nothing to measure. */
export function measure(table: MetricTable, metric: Metric, counts: Int32Array): number {
  switch (metric) {
    case 'accuracy':
      return toRatio(table.values, table.weights, { counts, isWeighted: true });
    case 'cost':
      return toRatio(table.costs, table.costCounts, { counts, isWeighted: false });
    case 'latencyP50':
      return toCountedPercentile(table.latencies, counts, 0.5);
    case 'latencyP95':
      return toCountedPercentile(table.latencies, counts, 0.95);
  }
}

/** Sum over sum: of values by weight, or of costs over how many there are. */
function toRatio(
  above: Float64Array,
  below: Float64Array,
  { counts, isWeighted }: { readonly counts: Int32Array; readonly isWeighted: boolean },
): number {
  let [total, whole] = [0, 0];
  for (let place = 0; place < counts.length; place += 1) {
    const count = counts[place] ?? 0;
    const share = below[place] ?? 0;
    total += count * (above[place] ?? 0) * (isWeighted ? share : 1);
    whole += count * share;
  }
  return whole === 0 ? 0 : total / whole;
}

/** As `toPercentile` of the list in which every latency stands as often as its case counts. */
function toCountedPercentile(latencies: MetricTable['latencies'], counts: Int32Array, share: number): number {
  let size = 0;
  for (const { place } of latencies) size += counts[place] ?? 0;
  if (size === 0) return 0;
  const at = (size - 1) * share;
  const below = Math.floor(at);
  let passed = 0;
  let low: number | null = null;
  for (const { latencyMs, place } of latencies) {
    passed += counts[place] ?? 0;
    if (low === null && passed > below) low = latencyMs;
    if (low !== null && passed > Math.ceil(at)) return low + (latencyMs - low) * (at - below);
  }
  return low ?? 0;
}
