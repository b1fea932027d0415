import { expect, test } from 'vitest';
import type { RankingRule } from '../../src/domain/ranking-rule.ts';
import { NO_CONSTRAINTS } from '../../src/domain/ranking-rule.ts';
import type { ReportCell, ReportRows } from '../../src/domain/report-rows.ts';
import { formatMarkdown } from '../../src/reports/markdown.ts';
import { reportSchema } from '../../src/reports/report-schema.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { formatTable } from '../../src/reports/table.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

type Plan = {
  readonly modelId: string;
  readonly passes: number;
  readonly costUsd: number | null;
  readonly latencyMs?: number;
};

const CASES = 20;

/** Twenty cases of which the first `passes` pass; costs and times vary a little from case to case. */
const cellsOf = ({ modelId, passes, costUsd, latencyMs = 1_000 }: Plan): readonly ReportCell[] =>
  buildCells({
    modelId,
    outcomes: Object.fromEntries(
      Array.from({ length: CASES }, (_, index) => [`c${index}`, [scored(index < passes ? 1 : 0)]]),
    ),
  }).map((cell, index) => ({
    ...cell,
    costUsd: costUsd === null ? null : costUsd * (1 + (index % 5) / 50),
    priced: costUsd !== null,
    latencyMs: latencyMs * (1 + (index % 7) / 70),
    tags: index < 5 ? ['easy'] : ['hard', 'long'],
  }));

const rowsOf = (plans: readonly Plan[], ranking?: RankingRule): ReportRows =>
  buildRows({
    models: plans.map(({ modelId }) => buildModel(modelId)),
    run: ranking === undefined ? {} : { ranking },
    cells: plans.flatMap(cellsOf),
  });

const boardOf = (rows: ReportRows, weights?: RankingRule['weights']) =>
  summarize(rows, weights === undefined ? {} : { weights }).boards[0]!;

const ranksOf = (rows: ReportRows, weights?: RankingRule['weights']) =>
  boardOf(rows, weights).rows.map(({ modelId, rank }) => [modelId, rank]);

const THREE: readonly Plan[] = [
  { modelId: 'best', passes: 20, costUsd: 0.1, latencyMs: 4_000 },
  { modelId: 'cheap', passes: 16, costUsd: 0.01, latencyMs: 2_000 },
  { modelId: 'poor', passes: 4, costUsd: 0.01, latencyMs: 1_000 },
];

test('weights decide the order: the same rows rank otherwise by accuracy, by cost, and by time', () => {
  const rows = rowsOf(THREE);
  expect(ranksOf(rows)).toEqual([
    ['best', 1],
    ['cheap', 1],
    ['poor', 3],
  ]);
  expect(ranksOf(rows, { accuracy: 0.5, cost: 0.5 })).toEqual([
    ['cheap', 1],
    ['poor', 2],
    ['best', 2],
  ]);
  expect(ranksOf(rows, { latencyP95: 1 })[0]).toEqual(['poor', 1]);
});

test('AA-16 what-if weights over stored rows rank as a run that declares them, also after a resume', () => {
  const weights = { accuracy: 0.6, cost: 0.3, latencyP50: 0.1 };
  const rows = rowsOf(THREE);
  const resumed = (given: ReportRows): ReportRows => ({
    ...given,
    run: { ...given.run, generation: 2 },
    cells: given.cells.map((cell, index) => (index % 3 === 0 ? { ...cell, generation: 2 } : cell)),
  });
  const stored = (given: ReportRows) => JSON.parse(JSON.stringify(given)) as ReportRows;
  const declared = rowsOf(THREE, { weights, constraints: NO_CONSTRAINTS });
  for (const change of [(given: ReportRows) => given, resumed, stored]) {
    expect(summarize(change(rows), { weights }).boards).toEqual(summarize(change(declared)).boards);
  }
  expect(summarize(declared, { weights: {} }).boards).toEqual(summarize(rows).boards);
});

test('a weighted sum is shown with its parts, and adds up', () => {
  const [first] = boardOf(rowsOf(THREE), { accuracy: 3, cost: 1 }).rows;
  expect(first?.modelId).toBe('cheap');
  expect(first?.composite?.parts).toMatchObject([
    { metric: 'accuracy', share: 0.75, value: 0.8, normalised: 0.8 },
    { metric: 'cost', share: 0.25, normalised: 1 },
  ]);
  expect(first?.composite?.value).toBeCloseTo(0.75 * 0.8 + 0.25, 12);
});

test('AA-14 a model that breaks a constraint is disqualified with the reason and stretches no scale', () => {
  const constraints = { ...NO_CONSTRAINTS, minAccuracy: 0.6 };
  const rule = { weights: { accuracy: 1, cost: 1 }, constraints };
  const free: Plan = { modelId: 'free', passes: 2, costUsd: 0.0001 };
  const board = boardOf(rowsOf([...THREE, free], rule));
  const places = board.rows.map(({ modelId, status, rank }) => [modelId, status, rank]);
  expect(places).toEqual([
    ['cheap', 'ranked', 1],
    ['best', 'ranked', 2],
    ['poor', 'disqualified', null],
    ['free', 'disqualified', null],
  ]);
  expect(board.rows[3]?.disqualified).toEqual(['accuracy 0.1, at least 0.6 is required']);
  // The cheapest that is left sets the scale, not the one that is out.
  expect(board.rows[0]?.composite).toEqual(boardOf(rowsOf(THREE, rule)).rows[0]?.composite);
  expect(board.notes.map(({ text }) => text)).toContain(
    'free: disqualified: accuracy 0.1, at least 0.6 is required',
  );
});

test('AA-14 the only model that keeps the constraints is said to have been compared with no other', () => {
  const constraints = { ...NO_CONSTRAINTS, minAccuracy: 0.9, maxErrorRate: 0.1 };
  const board = boardOf(rowsOf(THREE, { weights: {}, constraints }));
  expect(board.notes.find(({ code }) => code === 'single_survivor')?.text).toBe(
    'best is the only model that keeps the constraints: it was compared with no other',
  );
  const none = boardOf(rowsOf(THREE.slice(1), { weights: {}, constraints }));
  expect(none.rows.map(({ rank }) => rank)).toEqual([null, null]);
});

test('AA-14 a small margin under weights is noted, and models that differ by chance share a rank', () => {
  const near = { modelId: 'near', passes: 19, costUsd: 0.1, latencyMs: 4_000 };
  const board = boardOf(rowsOf([THREE[0]!, near]), { accuracy: 0.9, cost: 0.1 });
  expect(board.rows.map(({ rank }) => rank)).toEqual([1, 1]);
  expect(board.notes.find(({ code }) => code === 'margin')?.text).toContain(
    'best and near cannot be separated under these weights on 20 shared cases (margin 0.045)',
  );
  const tied = boardOf(rowsOf([THREE[0]!, { ...THREE[0]!, modelId: 'twin' }]), { accuracy: 1, cost: 1 });
  expect(tied.notes.find(({ code }) => code === 'margin')?.text).toContain('(margin 0.000, a small margin');
});

test('AA-14 a model whose cost is not known is not ranked by cost, and no form of the report breaks', () => {
  const unpriced = { modelId: 'unpriced', passes: 20, costUsd: null };
  const report = summarize(rowsOf([...THREE, unpriced]), { weights: { cost: 1 } });
  const row = report.boards[0]?.rows.find(({ modelId }) => modelId === 'unpriced');
  expect(row).toMatchObject({ status: 'unranked', rank: null, composite: null, onFront: false });
  expect(report.boards[0]?.notes.map(({ text }) => text)).toContain(
    'unpriced: its cost is not known, and the ranking weighs cost',
  );
  expect(formatTable(report, { width: 100, color: false })).toContain('unpriced');
  expect(formatMarkdown(report)).toContain('unpriced');
  expect(reportSchema.safeParse(report).success).toBe(true);
});

test('constraints look at errors, cost and time, and what is not known keeps none', () => {
  const constraints = { minAccuracy: null, maxErrorRate: 0.04, maxCostUsd: 0.05, maxLatencyP95Ms: 3_000 };
  const broken = { modelId: 'broken', passes: 20, costUsd: 0.01 };
  const rows = rowsOf([...THREE, broken, { modelId: 'unpriced', passes: 20, costUsd: null }], {
    weights: {},
    constraints,
  });
  const cells = rows.cells.map((cell) =>
    cell.modelId === 'broken' && cell.caseId === 'c3'
      ? { ...cell, outcome: ended('error', 'bad_request') }
      : cell,
  );
  const reasons = boardOf({ ...rows, cells }).rows.map(({ modelId, disqualified }) => [
    modelId,
    ...disqualified,
  ]);
  expect(reasons).toEqual([
    ['cheap'],
    ['poor'],
    [
      'best',
      'cost of an attempt in USD 0.104, at most 0.05 is required',
      'latency p95 in ms 4343, at most 3000 is required',
    ],
    ['broken', 'error rate 0.05, at most 0.04 is required'],
    ['unpriced', 'cost of an attempt in USD is not known, at most 0.05 is required'],
  ]);
});

test('AA-15 a cost of 0 is as good as can be, and a limit of 0 is a limit', () => {
  const gratis = { modelId: 'gratis', passes: 16, costUsd: 0 };
  const rows = rowsOf([THREE[1]!, gratis], {
    weights: { cost: 1 },
    constraints: { ...NO_CONSTRAINTS, maxCostUsd: 0 },
  });
  expect(boardOf(rows).rows.map(({ modelId, status }) => [modelId, status])).toEqual([
    ['gratis', 'ranked'],
    ['cheap', 'disqualified'],
  ]);
  const open = boardOf(rowsOf([THREE[1]!, gratis]), { cost: 1 });
  expect(open.rows.map(({ modelId, composite }) => [modelId, composite?.value])).toEqual([
    ['gratis', 1],
    ['cheap', 0],
  ]);
});

test('the front holds models that no other one beats on cost and quality at once', () => {
  const dear = { modelId: 'dear', passes: 16, costUsd: 0.2 };
  const board = boardOf(rowsOf([...THREE, dear]));
  const front = board.rows.filter((row) => row.onFront).map(({ modelId }) => modelId);
  expect(front).toEqual(['best', 'cheap']);
  expect(board.notes.find(({ code }) => code === 'front')?.text).toBe(
    'no model is as good and as cheap as (mean, cost of an attempt): best (1.00, $0.10), cheap (0.80, $0.010); 2 others are no better than one of these and no cheaper',
  );
});

test('partial boards weigh the shared cases only, cost and time included', () => {
  const rows = rowsOf(THREE);
  const cells = rows.cells.map((cell) =>
    cell.modelId === 'cheap' && cell.caseId === 'c19'
      ? { ...cell, outcome: ended('infra', 'connection') }
      : cell.caseId === 'c19'
        ? { ...cell, costUsd: 1_000, latencyMs: 1e9 }
        : cell,
  );
  const board = boardOf({ ...rows, cells }, { accuracy: 1, cost: 1, latencyP95: 1 });
  expect(board.sharedCases).toBe(19);
  expect(board.rows.every((row) => (row.attemptCostUsd ?? 0) < 1)).toBe(true);
  expect(Math.max(...board.rows.map((row) => row.composite?.parts[2]?.value ?? NaN))).toBeLessThan(5_000);
});

test('every model has its mean for each tag, with the cases behind it', () => {
  const report = summarize(rowsOf(THREE));
  const [best] = report.boards[0]!.rows;
  expect(
    best?.tags.map(({ tag, mean, cases, scored: cells, planned }) => [tag, mean, cases, cells, planned]),
  ).toEqual([
    ['easy', 1, 5, 5, 5],
    ['hard', 1, 15, 15, 15],
    ['long', 1, 15, 15, 15],
  ]);
  const line = 'tag hard: best 1.00 n=15, cheap 0.73 n=15, poor 0.00 n=15';
  expect(formatTable(report, { width: 100, color: false })).toContain(line);
  expect(formatMarkdown(report)).toContain(line);
});

test('latency has its percentiles, and attempts their curve of pass@k and pass^k', () => {
  const cells = buildCells({
    modelId: 'm',
    outcomes: { a: [scored(1), scored(0), scored(0)], b: [scored(1), scored(1), scored(0)] },
  }).map((cell, index) => ({ ...cell, latencyMs: 100 * (index + 1) }));
  const attempts = { k: 3, strategy: 'avg' } as const;
  const [row] = boardOf(buildRows({ models: [buildModel('m')], request: { attempts }, cells })).rows;
  expect(row?.figures.latency).toEqual({ p50Ms: 350, p90Ms: 550, p95Ms: 575, p99Ms: 595, cells: 6 });
  const curve = row?.figures.passCurve.map(({ k, passAtK, passHatK, cases }) => [
    k,
    passAtK?.toFixed(4),
    passHatK?.toFixed(4),
    cases,
  ]);
  expect(curve).toEqual([
    [1, '0.5000', '0.5000', 2],
    [2, '0.8333', '0.1667', 2],
    [3, '1.0000', '0.0000', 2],
  ]);
});

test('an empty board and a board without a shared case are ranked by nothing', () => {
  expect(boardOf(buildRows({ models: [buildModel('m')], cells: [] }), { cost: 1 }).rows[0]?.status).toBe(
    'no_data',
  );
  const apart = ['a', 'b'].flatMap((modelId) =>
    buildCells({ modelId, outcomes: { [`only-${modelId}`]: [scored(1)] } }),
  );
  const rows = buildRows({ models: [buildModel('a'), buildModel('b')], cells: apart });
  expect(boardOf(rows, { accuracy: 1, cost: 1 }).sharedCases).toBe(0);
});
