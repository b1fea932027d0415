import { expect, test } from 'vitest';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

test('AA-17 what fails in a later attempt is listed, and a case that wavers within the run is named', () => {
  const outcomes = {
    steady: [scored(1), scored(1)],
    wavers: [scored(1), scored(0)],
    gone: [scored(1), ended('infra', 'x')],
  };
  const cells = buildCells({ modelId: 'm', outcomes });
  const attempts = { k: 2, strategy: 'avg' } as const;
  const report = summarize(buildRows({ models: [buildModel('m')], request: { attempts }, cells }));
  expect(
    report.failures.map(({ outcome, examples }) => [outcome, examples[0]?.caseId, examples[0]?.attempt]),
  ).toEqual([
    ['infra', 'gone', 2],
    ['wrong', 'wavers', 2],
  ]);
  expect(report.boards[0]?.rows[0]?.figures.flaky).toEqual({ cases: 1, ofCases: 2, caseIds: ['wavers'] });
  expect(report.boards[0]?.notes.find(({ code }) => code === 'flaky')?.text).toBe(
    'm: 1 of 2 cases passed in some attempts and not in others: wavers',
  );
  const once = summarize(
    buildRows({
      models: [buildModel('m')],
      cells: buildCells({ modelId: 'm', outcomes: { a: [scored(0)] } }),
    }),
  );
  expect(once.boards[0]?.rows[0]?.figures.flaky).toEqual({ cases: 0, ofCases: 0, caseIds: [] });
});
