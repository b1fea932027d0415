import type { ReportCell } from '../domain/report-rows.ts';
import type { AnalysisFigures } from './figure-schema.ts';

/** What analyzers say of the cells of one model, added up; in the order in which they appear. */
export function sumAnalyses(cells: readonly ReportCell[]): AnalysisFigures[] {
  const byAnalyzer = Map.groupBy(
    cells.flatMap((cell) => cell.analyses),
    ({ analyzer }) => analyzer,
  );
  return [...byAnalyzer].map(([analyzer, rows]) => {
    const facts: { [name: string]: { total: number; most: number } } = {};
    for (const [name, value] of rows.flatMap((row) => Object.entries(row.facts))) {
      const { total, most } = facts[name] ?? { total: 0, most: value };
      facts[name] = { total: total + value, most: Math.max(most, value) };
    }
    const failed = rows.filter(({ error }) => error !== null).length;
    return { analyzer, cells: rows.length - failed, failed, facts };
  });
}
