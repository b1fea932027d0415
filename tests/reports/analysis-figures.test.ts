import { expect, test } from 'vitest';
import type { AnalysisRow } from '../../src/domain/analysis-row.ts';
import { sumAnalyses } from '../../src/reports/analysis-figures.ts';
import { buildCell } from './support.ts';

const row = (analyzer: string, facts: AnalysisRow['facts'], error: string | null = null): AnalysisRow => ({
  analyzer,
  summary: null,
  facts,
  error,
});

test('facts are added up over the cells with the most of one; what an analyzer broke on is counted apart', () => {
  const cell = (caseId: string, analyses: readonly AnalysisRow[]) =>
    buildCell({ caseId, modelId: 'fast', analyses });
  expect(
    sumAnalyses([
      cell('a', [
        row('tool-errors', { calls: 3, failed: 1, 'failed.bash': 1 }),
        row('loops', { repeated: 0 }),
      ]),
      cell('b', [row('tool-errors', { calls: 5, failed: 0 }), row('loops', {}, 'it broke')]),
      cell('c', []),
    ]),
  ).toEqual([
    {
      analyzer: 'tool-errors',
      cells: 2,
      failed: 0,
      facts: {
        calls: { total: 8, most: 5 },
        failed: { total: 1, most: 1 },
        'failed.bash': { total: 1, most: 1 },
      },
    },
    { analyzer: 'loops', cells: 1, failed: 1, facts: { repeated: { total: 0, most: 0 } } },
  ]);
});
