import type { WidthRow } from '../store/widths.ts';
import { formatMoment, formatUsd } from './format.ts';
import { formatTextTable } from './text-table.ts';

/** What a run did at each `taskConcurrency` that it had, as a table. */
export const formatWidths = (widths: readonly WidthRow[]): string =>
  formatTextTable({
    heads: ['taskConcurrency', 'since', 'cells', 'without score', 'calls', 'failed', 'cost'],
    rows: widths.map((row) => [
      String(row.taskConcurrency),
      formatMoment(row.since),
      String(row.cells),
      formatRate(row.failedCells, row.cells),
      String(row.calls),
      formatRate(row.failedCalls, row.calls),
      formatUsd(row.costUsd),
    ]),
    right: [0, 2, 3, 4, 5, 6],
  });

/** Such as `3 (5 %)`. */
const formatRate = (count: number, all: number): string =>
  all === 0 ? '-' : `${count} (${Math.round((100 * count) / all)} %)`;
