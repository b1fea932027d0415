import { expect, test } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { reportSchema, type BoardRow } from '../../src/reports/report-schema.ts';
import { formatJson } from '../../src/reports/json.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import {
  buildCell,
  buildCells,
  buildModel,
  buildRows,
  buildUnsent,
  ended,
  scored,
  usage,
} from './support.ts';

const error = ended('error', 'bad_request', '400: no');
const infra = ended('infra', 'connection', 'connection refused');
const unscored = ended(
  'unscored',
  'scorer_failed',
  'scorer custom broke its contract: value must be a number',
);

const summarizeOne = (
  outcomes: { [caseId: string]: (Outcome | null)[] },
  k: number,
  strategy: 'avg' | 'pass' = 'avg',
) => {
  const cells = buildCells({ modelId: 'm', outcomes });
  const request = { attempts: { k, strategy }, caseCount: Object.keys(outcomes).length };
  return summarize(buildRows({ models: [buildModel('m')], request, cells }));
};

const figuresOf = (report: ReturnType<typeof summarize>, modelId = 'm') => {
  const row = report.boards[0]?.rows.find((one) => one.modelId === modelId);
  if (row === undefined) throw new Error(`no row ${modelId}`);
  return (row satisfies BoardRow).figures;
};

const F25 = {
  A: [scored(1), scored(0), scored(0)],
  B: [scored(0), error, error],
  C: [scored(0.5), scored(0.5), scored(0)],
  D: [scored(1), scored(1), scored(1)],
  E: [scored(1), error, error],
};

test('F25 means, pass@k and coverage with holes', () => {
  const report = summarizeOne(F25, 3);
  const figures = figuresOf(report);
  expect(figures.mean?.value).toBeCloseTo(0.53333, 5);
  expect(figures.mean).toMatchObject({ cases: 5, attempts: 11 });
  expect(figures.strictMean?.value).toBeCloseTo(0.4, 12);
  expect(figures.strictMean).toMatchObject({ cases: 5, attempts: 15 });
  expect(figures.passRate?.value).toBeCloseTo(0.46667, 5);
  expect(figures.passAtK).toEqual({ k: 3, value: 2 / 3, cases: 3, ofCases: 5 });
  expect(figures.passHatK).toEqual({ k: 3, value: 1 / 3, cases: 3, ofCases: 5 });
  expect(figures.coverage).toEqual({
    scored: 11,
    planned: 15,
    complete: false,
    scoredCases: 5,
    plannedCases: 5,
  });
  expect(report.run).toMatchObject({ planned: 15, recorded: 15, scored: 11, complete: false });
  const text = report.boards[0]?.notes.find((note) => note.code === 'coverage')?.text;
  expect(text).toBe('m: 11 of 15 cells scored, figures are partial: 4 error');
});

test('F25 AC-O10 values that are no scores touch no other cell, in any order of cases', () => {
  const outcomes: [string, Outcome][] = [
    ...['nan', 'infinity', 'high', 'low', 'null', 'text'].map((id): [string, Outcome] => [id, unscored]),
    ['x', scored(1)],
    ['y', scored(0)],
    ['z', scored(1)],
  ];
  const toReport = (list: typeof outcomes) =>
    summarizeOne(Object.fromEntries(list.map(([id, outcome]) => [id, [outcome]])), 1);
  const report = toReport(outcomes);
  const figures = figuresOf(report);
  expect(figures.mean?.value).toBeCloseTo(0.66667, 5);
  expect(figures.coverage).toMatchObject({ scored: 3, planned: 9, complete: false });
  expect(figures.outcomes).toMatchObject({ scored: 3, unscored: 6, error: 0 });
  expect(figuresOf(toReport(outcomes.toReversed()))).toEqual(figures);
  expect(JSON.parse(formatJson(report))).toEqual(report);
  expect(report.failures.find((failure) => failure.outcome === 'unscored')).toMatchObject({ cells: 6 });
});

test('C10 one correct cell and 99 outages are a partial figure, not a perfect one', () => {
  const outcomes = Object.fromEntries(
    Array.from({ length: 100 }, (_, index) => [`c${index}`, [index === 0 ? scored(1) : infra]]),
  );
  const report = summarizeOne(outcomes, 1);
  expect(figuresOf(report).mean).toMatchObject({ value: 1, cases: 1, interval: null });
  expect(figuresOf(report).coverage).toMatchObject({ scored: 1, planned: 100, complete: false });
  expect(report.run.complete).toBe(false);
  expect(report.next).toBe('assay resume r-7f3k');
  expect(report.failures).toHaveLength(1);
  expect(report.failures[0]).toMatchObject({ outcome: 'infra', cells: 99, message: 'connection refused' });
});

test('C11 AC-E3 a missing verifier result is in no mean, not even the strict one', () => {
  const figures = figuresOf(summarizeOne({ a: [scored(1)], b: [unscored] }, 1));
  expect(figures.mean?.value).toBe(1);
  expect(figures.strictMean).toMatchObject({ value: 1, attempts: 1 });
});

test('AC-E9 one of twenty ungraded is shown as partial and a gate can refuse it', () => {
  const outcomes = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`c${index}`, [index === 0 ? unscored : scored(1)]]),
  );
  const cells = buildCells({ modelId: 'm', outcomes });
  const gates = {
    minCoverage: 0.96,
    minPassRate: null,
    minMean: null,
    maxUnscoredRate: null,
    requireModels: false,
  };
  const report = summarize(buildRows({ run: { gates }, models: [buildModel('m')], cells }));
  expect(figuresOf(report).coverage).toMatchObject({ scored: 19, planned: 20, complete: false });
  expect(report.gateFailures).toMatchObject([{ gate: 'minCoverage', measured: 0.95, limit: 0.96 }]);
});

test('AC-E5 an answer that is wrong is told apart from an error in every count', () => {
  const report = summarizeOne({ a: [scored(0)], b: [error], c: [infra], d: [scored(1)] }, 1);
  expect(figuresOf(report).outcomes).toMatchObject({ scored: 2, passed: 1, wrong: 1, error: 1, infra: 1 });
  expect(report.failures.map(({ outcome, cells }) => [outcome, cells])).toEqual([
    ['error', 1],
    ['infra', 1],
    ['wrong', 1],
  ]);
});

test('C18 attempts of one case are no further evidence', () => {
  const outcomes = (times: number) =>
    Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [
        `c${index}`,
        Array.from({ length: times }, () => scored(index % 3 === 0 ? 1 : 0)),
      ]),
    );
  const once = figuresOf(summarizeOne(outcomes(1), 1));
  const tenTimes = figuresOf(summarizeOne(outcomes(10), 10));
  expect(tenTimes.mean?.standardError).toBe(once.mean?.standardError);
  expect(tenTimes.passRate?.interval).toEqual(once.passRate?.interval);
  expect(tenTimes.mean).toMatchObject({ cases: 50, attempts: 500 });
});

test('C20 the mean and the pass rate are two gates with one verdict', () => {
  const outcomes = { a: [scored(0.9, true)], b: [scored(0.9, true)], c: [scored(0.2, false)] };
  const gates = {
    minCoverage: null,
    minPassRate: 0.7,
    minMean: 0.6,
    maxUnscoredRate: null,
    requireModels: false,
  };
  const cells = buildCells({ modelId: 'm', outcomes });
  const report = summarize(buildRows({ run: { gates }, models: [buildModel('m')], cells }));
  expect(figuresOf(report).mean?.value).toBeCloseTo(0.66667, 5);
  expect(report.gateFailures.map((failure) => failure.gate)).toEqual(['minPassRate']);
});

test('F13 answers cut at the output limit are counted, with those that reasoning used up', () => {
  const cut: Outcome = { ...scored(0), limit: { kind: 'output', limit: 16, measured: 16 } };
  const cells = [
    buildCell({ modelId: 'm', caseId: '1', outcome: cut, usage: usage(9, 16, 16), answerPreview: '' }),
    buildCell({
      modelId: 'm',
      caseId: '2',
      outcome: cut,
      usage: usage(9, 16),
      answerPreview: '<think>step one',
    }),
    buildCell({ modelId: 'm', caseId: '3', outcome: scored(1), usage: usage(9, 459, 455) }),
  ];
  const report = summarize(buildRows({ models: [buildModel('m')], cells }));
  const figures = figuresOf(report);
  expect(figures).toMatchObject({ cutByReasoning: 1, limits: { output: 2 }, coverage: { complete: true } });
  expect(figures.usage).toMatchObject({ inputTokens: 27, outputTokens: 491, reasoningTokens: 471 });
  expect(report.boards[0]?.notes.find((note) => note.code === 'output_cut')?.text).toBe(
    'm: 2 of 3 answers were cut at the output limit, in 1 of them reasoning used all of it: raise maxOutputTokens',
  );
});

test('AA-15 one call without a price makes the cost unknown, nothing spent is 0', () => {
  const cells = [
    buildCell({ modelId: 'm', caseId: '1', costUsd: 0.5 }),
    buildCell({ modelId: 'm', caseId: '2', costUsd: null, priced: false }),
    buildUnsent({ modelId: 'n', caseId: '1', outcome: ended('not_run', 'cancelled') }),
  ];
  const report = summarize(buildRows({ models: [buildModel('m'), buildModel('n')], cells }));
  expect(figuresOf(report)).toMatchObject({ costUsd: null, unpricedCells: 1 });
  expect(figuresOf(report, 'n')).toMatchObject({ costUsd: 0, unpricedCells: 0 });
  expect(report.totals.costUsd).toBeNull();
});

test('AA-02 a skipped model has no data and its reason as the only failure line', () => {
  const reason = 'environment variable KEY is not set';
  const models = [buildModel('m'), buildModel('ghost', { skippedReason: reason })];
  const cells = [
    ...buildCells({ modelId: 'm', outcomes: { a: [scored(1)], b: [scored(1)] } }),
    ...buildCells({
      modelId: 'ghost',
      outcomes: { a: [ended('skipped', 'credential', reason)], b: [ended('skipped', 'credential', reason)] },
    }),
  ];
  const report = summarize(buildRows({ models, cells }));
  expect(report.boards[0]?.rows.map((row) => [row.modelId, row.status, row.rank])).toEqual([
    ['m', 'ranked', 1],
    ['ghost', 'no_data', null],
  ]);
  expect(report.failures).toMatchObject([{ requestName: null, modelId: 'ghost', message: reason, cells: 2 }]);
});

test('AA-07 a model stopped by its cap is partial, names the budget and is not ranked on three easy cases', () => {
  const report = summarize(buildCrowdedRun());
  const stopped = report.boards[0]?.rows.find((row) => row.modelId === 'stopped');
  expect(stopped).toMatchObject({
    status: 'unranked',
    rank: null,
    figures: { coverage: { scored: 6, planned: 24 } },
  });
  expect(report.failures.find((failure) => failure.outcome === 'not_run')?.message).toContain(
    'cap of 0.50 USD',
  );
  expect(report.next).toBe('assay resume r-7f3k --max-usd 4');
});

test('strategy pass counts the best attempt of a case that is decided', () => {
  const report = summarizeOne(
    {
      solved: [scored(0), scored(1)],
      unsolved: [scored(0), scored(0.5), scored(0)],
      open: [scored(0), infra, infra],
    },
    3,
    'pass',
  );
  const figures = figuresOf(report);
  expect(figures.mean).toMatchObject({ value: 0.75, cases: 2 });
  expect(figures.passRate).toMatchObject({ value: 0.5, cases: 2 });
  expect(figures.passAtK).toEqual({ k: 3, value: 0.5, cases: 2, ofCases: 3 });
  expect(figures.passHatK).toBeNull();
});

test('a weight changes the mean, a weight of 0 leaves it and is not lost from the counts', () => {
  const cells = [
    buildCell({ modelId: 'm', caseId: 'a', outcome: scored(1), weight: 3 }),
    buildCell({ modelId: 'm', caseId: 'b', outcome: scored(0) }),
    buildCell({ modelId: 'm', caseId: 'c', outcome: scored(0), weight: 0 }),
  ];
  const figures = figuresOf(summarize(buildRows({ models: [buildModel('m')], cells })));
  expect(figures.mean).toMatchObject({ value: 0.75, cases: 2, attempts: 2 });
  expect(figures.coverage).toMatchObject({ scored: 3, planned: 3, complete: true });
});

test('a failure keeps no key that an answer or an error text holds', () => {
  const key = `sk-${'a1'.repeat(20)}`;
  const cells = [
    buildCell({ modelId: 'm', caseId: 'a', outcome: ended('error', 'x', `bad ${key}`), answerPreview: key }),
  ];
  expect(JSON.stringify(summarize(buildRows({ models: [buildModel('m')], cells })))).not.toContain(key);
});

test('an empty plan, a request that failed and a run of nothing but errors make a report', () => {
  const models = [buildModel('m')];
  const empty = summarize(buildRows({ models, request: { failure: 'suite not found' }, cells: [] }));
  expect(empty.boards[0]?.rows[0]).toMatchObject({ status: 'no_data', noDataReason: 'suite not found' });
  const broken = summarize(
    buildRows({ models, cells: buildCells({ modelId: 'm', outcomes: { a: [error] } }) }),
  );
  expect(figuresOf(broken)).toMatchObject({ mean: null, strictMean: { value: 0 }, passRate: null });
  for (const report of [empty, broken]) expect(reportSchema.parse(report)).toEqual(report);
});

test('every report follows its schema', () => {
  const report = summarize(buildCrowdedRun());
  expect(reportSchema.parse(report)).toEqual(report);
});
