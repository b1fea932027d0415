import { expect, test } from 'vitest';
import type { ReportRows } from '../../src/domain/report-rows.ts';
import { compare } from '../../src/reports/compare.ts';
import { formatGateSummary } from '../../src/reports/gate-summary.ts';
import { pairRuns } from '../../src/reports/pair-sides.ts';
import { findRegressions, type Tolerance } from '../../src/reports/regressions.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const runOf = (
  runId: string,
  models: { readonly [modelId: string]: readonly (number | null)[] },
): ReportRows =>
  buildRows({
    run: { runId },
    models: Object.keys(models).map((modelId) => buildModel(modelId)),
    cells: Object.entries(models).flatMap(([modelId, scores]) =>
      buildCells({
        modelId,
        outcomes: Object.fromEntries(
          scores.map((score, index) => [`c${index}`, [score === null ? ended('infra', 'x') : scored(score)]]),
        ),
      }),
    ),
  });

const passes = (count: number, of = 40): number[] =>
  Array.from({ length: of }, (_, index) => Number(index < count));

const judge = (before: ReportRows, after: ReportRows, allowed: Partial<Tolerance> = {}) =>
  findRegressions(pairRuns(before, after, []), { tolerance: 0, confidence: 0.95, ...allowed });

test('a loss that chance does not explain fails, a smaller one and a gain do not', () => {
  const before = runOf('base', { m: passes(36) });
  const [failure, ...rest] = judge(before, runOf('new', { m: passes(26) }));
  expect(rest).toEqual([]);
  expect(failure).toMatchObject({ gate: 'baseline', requestName: 'tickets', modelId: 'm', measured: -0.25 });
  expect(failure?.message).toBe(
    'tickets / m: the mean fell by 0.25 against base; no loss is allowed (one-sided p < 0.001, confidence 0.95)',
  );
  expect(judge(before, runOf('new', { m: passes(33) }))).toEqual([]);
  expect(judge(before, runOf('new', { m: passes(40) }))).toEqual([]);
  expect(judge(before, before)).toEqual([]);
});

test('a tolerance allows a loss up to it, and a confidence says how sure a larger one must be', () => {
  const before = runOf('base', { m: passes(36) });
  const after = runOf('new', { m: passes(31) });
  // Five of five fell: p = 1/32, of 0.03.
  expect(judge(before, after, { confidence: 0.96 })).toHaveLength(1);
  expect(judge(before, after, { confidence: 0.99 })).toEqual([]);
  expect(judge(before, after, { tolerance: 0.2 })).toEqual([]);
  expect(judge(before, runOf('new', { m: passes(16) }), { tolerance: 0.2 })).toHaveLength(1);
});

test('several models share the risk of a false alarm', () => {
  const before = runOf('base', { a: passes(36), b: passes(36), c: passes(36) });
  const after = runOf('new', { a: passes(31), b: passes(36), c: passes(36) });
  expect(judge(before, after)).toEqual([]);
  expect(judge(runOf('base', { a: passes(36) }), runOf('new', { a: passes(31) }))).toHaveLength(1);
});

test('nothing compared is nothing checked: it fails', () => {
  const empty = judge(runOf('base', { m: [1, null] }), runOf('new', { m: [null, 1] }));
  expect(empty[0]).toMatchObject({ measured: null });
  expect(empty[0]?.message).toContain('no case has a score in both runs');
  const other = judge(runOf('base', { a: [1], b: [1] }), runOf('new', { c: [1], d: [1] }));
  expect(other[0]?.message).toContain('no model stands in both runs');
});

test('the summary for a pull request says the verdict first, then the comparison, then the report', async () => {
  const before = runOf('base', { m: passes(36) });
  const after = runOf('new', { m: passes(26) });
  const paired = pairRuns(before, after, []);
  const reasons = findRegressions(paired, { tolerance: 0, confidence: 0.95 }).map(({ message }) => message);
  const facts = { report: summarize(after), comparison: compare(paired) };
  await expect(formatGateSummary({ passed: false, reasons }, facts)).toMatchFileSnapshot(
    'expected/gate-summary.md',
  );
  expect(formatGateSummary({ passed: true, reasons: [] }, { ...facts, comparison: null })).toMatch(
    /^# ✅ Gate passed\n\n<details>/,
  );
});
