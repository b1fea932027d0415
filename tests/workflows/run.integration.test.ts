import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadReport } from '../../src/client/report.ts';
import type { Report } from '../../src/reports/report-schema.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
});

const questions = (count: number) => ({
  name: 'sums',
  scorers: ['exact'],
  cases: Array.from({ length: count }, (_, index) => ({
    id: `sum-${index + 1}`,
    input: `What is ${index} + 1?`,
    target: String(index + 1),
  })),
});

test('a matrix of two models, five cases and two attempts ends complete with each cell once', async () => {
  const result = await assay.run({
    name: 'first',
    models: [
      { id: 'right', provider: 'mock', model: 'oracle' },
      { id: 'wrong', provider: 'mock', model: 'fixed', params: { text: 'no idea' } },
    ],
    suite: questions(5),
    attempts: { k: 2 },
  });
  expect(result).toMatchObject({ state: 'completed', planned: 20, recorded: 20, outcomes: { scored: 20 } });
});

test('what an attempt took, what it must not say, its likeness and own code judge beside each other', async () => {
  const runId = await assay.start({
    name: 'scorers',
    models: [
      {
        id: 'priced',
        provider: 'mock',
        model: 'fixed',
        params: { text: 'the answer is 1', usage: { inputTokens: 1_000, outputTokens: 100 }, latencyMs: 30 },
        price: { input: 1, output: 10 },
      },
    ],
    suite: {
      ...questions(1),
      scorers: [
        { kind: 'includes', not: true },
        { kind: 'includes', name: 'free of two', not: true, weight: 0.5 },
        { kind: 'similarity', threshold: 0.3 },
        { kind: 'javascript', expression: 'answer.endsWith(target)' },
        { kind: 'cost', maxUsd: 0.001 },
        { kind: 'latency', max: '1h' },
      ],
    },
  });
  await assay.result(runId);
  const { rows } = await assay.db.query<{ scorer: string; kind: string; value: number; pass: boolean }>(
    'select scorer, kind, value, pass from scores where run_id = $1 order by position',
    [runId],
  );
  expect(rows.map(({ scorer, kind, value, pass }) => [scorer, kind, value, pass])).toEqual([
    ['not-includes', 'not-includes', 0, false],
    ['free of two', 'not-includes', 0, false],
    ['similarity', 'similarity', 0.4, true],
    ['javascript', 'javascript', 1, true],
    ['cost', 'cost', 0.5, false],
    ['latency', 'latency', 1, true],
  ]);
});

/** What a report says but for times, which no two runs share. */
const withoutTimes = ({ boards, failures, totals }: Report) => ({
  boards: boards.map(({ rows, ...board }) => ({
    ...board,
    rows: rows.map(({ figures: { latency: _latency, waitMs: _waitMs, ...figures }, ...row }) => ({
      ...row,
      figures,
    })),
  })),
  failures,
  totals,
});

test('FE-06 one at a time and side by side give the same report, FE-08 one broken model fails its own cells only', async () => {
  const reports = [];
  for (const taskConcurrency of [1, 32]) {
    const runId = await assay.start({
      name: 'width',
      models: [
        { id: 'right', provider: 'mock', model: 'oracle' },
        { id: 'some', provider: 'mock', model: 'flaky', params: { accuracy: 0.5, seed: 3 } },
        {
          id: 'broken',
          provider: 'mock',
          model: 'fixed',
          params: { text: 'x', faults: [{ fault: { status: 400, text: 'no such parameter' } }] },
        },
      ],
      suite: questions(8),
      execution: { taskConcurrency, seed: 7 },
    });
    await assay.result(runId);
    reports.push(await loadReport(assay.connection, runId));
  }
  const [narrow, wide] = reports.map(withoutTimes);
  expect(wide).toEqual(narrow);
  const counts = narrow?.boards[0]?.rows.map(({ modelId, figures: { outcomes } }) => [
    modelId,
    outcomes.passed,
    outcomes.wrong,
    outcomes.error,
  ]);
  const some = counts?.find(([modelId]) => modelId === 'some');
  expect(counts).toEqual([['right', 8, 0, 0], some, ['broken', 0, 0, 8]]);
  expect(Number(some?.[1]) + Number(some?.[2])).toBe(8);
  expect(Number(some?.[2])).toBeGreaterThan(0);
});
