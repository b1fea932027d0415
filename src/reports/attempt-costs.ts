import type { ReportCell } from '../domain/report-rows.ts';
import { sum } from '../statistics/case-values.ts';
import type { Taken } from '../statistics/resampled-metrics.ts';

const isScored = (cell: ReportCell): boolean => cell.outcome?.kind === 'scored';

/** Mean cost of a scored attempt; null when the cost of one is not known, or there is none. */
export function toAttemptCost(cells: readonly ReportCell[]): number | null {
  const scored = cells.filter(isScored);
  if (scored.length === 0 || scored.some((cell) => !cell.priced)) return null;
  return sum(scored.map((cell) => cell.costUsd ?? 0)) / scored.length;
}

/** What the scored attempts of each case took. */
export function toTaken(cells: readonly ReportCell[]): ReadonlyMap<string, Taken> {
  const byCase = Map.groupBy(cells.filter(isScored), (cell) => cell.caseId);
  return new Map(
    [...byCase].map(([caseId, own]) => [
      caseId,
      {
        costsUsd: own.map((cell) => cell.costUsd ?? 0),
        latenciesMs: own.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])),
      },
    ]),
  );
}
