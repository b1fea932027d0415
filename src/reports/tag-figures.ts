import type { ReportCell } from '../domain/report-rows.ts';
import { toMeanInterval } from '../statistics/intervals.ts';
import { estimateMean } from '../statistics/mean.ts';
import { type Attempts, toMeanValues } from './figures.ts';
import type { TagFigures } from './report-schema.ts';

/** The mean of one model for each tag of its cases, tags in the order in which they appear. */
export function toTagFigures(cells: readonly ReportCell[], attempts: Attempts): TagFigures[] {
  const tags = [...new Set(cells.flatMap((cell) => cell.tags))];
  return tags.map((tag) => {
    const own = cells.filter((cell) => cell.tags.includes(tag));
    const estimate = estimateMean(toMeanValues(own, attempts));
    const scored = own.filter((cell) => cell.outcome?.kind === 'scored').length;
    return {
      tag,
      mean: estimate?.value ?? null,
      interval: estimate && toMeanInterval(estimate),
      cases: estimate?.cases ?? 0,
      scored,
      planned: own.length,
    };
  });
}
