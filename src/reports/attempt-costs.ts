import type { ReportCell } from '../domain/report-rows.ts';
import { sum } from '../statistics/case-values.ts';
import type { Taken } from '../statistics/resampled-metrics.ts';

const isScored = (cell: ReportCell): boolean => cell.outcome?.kind === 'scored';

/** Mean cost of a scored attempt; null when the cost of one is not known, or there is none. */
export function toAttemptCost(cells: readonly ReportCell[]): number | null {
  const scored = cells.filter(isScored);
  if (scored.length === 0 || scored.some((cell) => !isPriced(cell))) return null;
  return sum(scored.map(toOwnCost)) / scored.length;
}

/** An answer that was taken from another run costs what it cost there. */
const toOwnCost = ({ costUsd, origin }: ReportCell): number => (costUsd ?? 0) + (origin?.costUsd ?? 0);

const isPriced = ({ priced, origin }: ReportCell): boolean => priced && (origin?.priced ?? true);

/** What the scored attempts of each case took. */
export function toTaken(cells: readonly ReportCell[]): ReadonlyMap<string, Taken> {
  const byCase = Map.groupBy(cells.filter(isScored), (cell) => cell.caseId);
  return new Map(
    [...byCase].map(([caseId, own]) => [
      caseId,
      {
        costsUsd: own.map(toOwnCost),
        latenciesMs: own.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs])),
      },
    ]),
  );
}
