import { expect, test } from 'vitest';
import type { ReportCell } from '../../src/domain/report-rows.ts';
import { formatMarkdown } from '../../src/reports/markdown.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCell, buildModel, buildRequest, buildRun, usage } from './support.ts';

const judging = (costUsd: number | null): Pick<ReportCell, 'judging'> => ({
  judging: { calls: 2, costUsd, priced: costUsd !== null, usage: usage(100, 10) },
});

const summarizeCells = (cells: readonly ReportCell[], judged = 'other') =>
  summarize({
    run: buildRun({ judges: [{ judgeId: 'wise', model: 'gpt-5' }] }),
    models: [buildModel('a', { model: judged }), buildModel('b')],
    requests: [buildRequest(['a', 'b'])],
    cells,
  });

const cell = (modelId: string, changes: Partial<ReportCell> = {}) =>
  buildCell({ caseId: 'c', modelId, costUsd: 1, ...changes });

test('what judges cost is summed apart, and the models are compared without it', () => {
  const report = summarizeCells([cell('a', judging(5)), cell('b', { ...judging(0.5), task: 2 })]);
  expect(report.totals).toMatchObject({
    costUsd: 2,
    judging: { calls: 4, costUsd: 5.5, inputTokens: 200, outputTokens: 20 },
  });
  expect(report.boards[0]?.rows.map(({ figures }) => [figures.costUsd, figures.judging?.costUsd])).toEqual([
    [1, 5],
    [1, 0.5],
  ]);
  expect(formatMarkdown(report)).toContain('judges replied 4 times for \\$5.50: part of the budget');
});

test('an unknown price of one judge makes the cost of judges unknown, and that of the models not', () => {
  const report = summarizeCells([cell('a', judging(null)), cell('b', { ...judging(1), task: 2 })]);
  expect(report.totals).toMatchObject({ costUsd: 2, judging: { costUsd: null } });
  expect(report.notes.map(({ text }) => text).join()).toContain('at an unknown cost');
});

test('a judge that is one of the judged models is named in a note of the report', () => {
  const notes = summarizeCells([cell('a', judging(1))], 'gpt-5').notes;
  expect(notes.find(({ code }) => code === 'self_judged')).toMatchObject({ modelId: 'a' });
  expect(summarizeCells([cell('a', judging(1))]).notes.map(({ code }) => code)).toEqual(['judges']);
});

test('a run without judges says nothing of them', () => {
  const report = summarizeCells([cell('a'), cell('b', { task: 2 })]);
  expect(report.totals).not.toHaveProperty('judging');
  expect(report.notes).toEqual([]);
});
