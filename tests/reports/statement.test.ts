import { expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCells, buildModel, buildRows, scored } from './support.ts';

const summarizeCases = (outcomes: { [caseId: string]: Outcome[] }) =>
  summarize(buildRows({ models: [buildModel('m')], cells: buildCells({ modelId: 'm', outcomes }) }));

test.each([
  ['running', null, 'Not finished (running)', 'assay watch r-7f3k'],
  ['cancelled', 'by the user', 'Cancelled (by the user)', 'assay resume r-7f3k'],
  ['timed_out', null, 'Stopped at its deadline', 'assay resume r-7f3k'],
  ['aborted', null, 'Aborted by failFast', 'assay resume r-7f3k'],
  ['failed', 'cell 3 is missing', 'Failed (cell 3 is missing)', 'assay resume r-7f3k'],
  ['completed', null, 'Completed: 1 of 2 cells recorded, 1 scored.', 'assay resume r-7f3k'],
] as const)('state %s says what it means and what to type next', (...[state, reason, statement, next]) => {
  const cells = buildCells({ modelId: 'm', outcomes: { a: [scored(1)], b: [null] } });
  const report = summarize(buildRows({ run: { state, reason }, models: [buildModel('m')], cells }));
  expect(report.statement).toContain(statement);
  expect(report.next).toBe(next);
});

test('a clean run leads to its report, a wrong answer to its case', () => {
  expect(summarizeCases({ a: [scored(1)] })).toMatchObject({
    next: 'assay report r-7f3k --format json',
    run: { complete: true },
    failures: [],
  });
  expect(summarizeCases({ "it's": [scored(0)] }).next).toBe(String.raw`assay show r-7f3k 'it'\''s'`);
});

test('a run whose cap is below what it has spent is resumed with more than it has spent', () => {
  const cells = buildCells({ modelId: 'm', outcomes: { a: [scored(1)] } }, { costUsd: 0.3 });
  const caps = { maxRunUsd: 0.01, maxModelUsd: null, maxRunTokens: null };
  const run = { state: 'stopped_budget' as const, caps };
  expect(summarize(buildRows({ run, models: [buildModel('m')], cells })).next).toBe(
    'assay resume r-7f3k --max-usd 0.6',
  );
});
