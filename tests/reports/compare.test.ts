import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ReportCell, ReportRows } from '../../src/domain/report-rows.ts';
import type { Score } from '../../src/domain/score.ts';
import { compare } from '../../src/reports/compare.ts';
import { formatComparisonMarkdown } from '../../src/reports/comparison-markdown.ts';
import { comparisonSchema, toComparisonJsonSchema } from '../../src/reports/comparison-schema.ts';
import { formatComparison } from '../../src/reports/comparison-table.ts';
import { pairModels, pairRuns } from '../../src/reports/pair-sides.ts';
import { reference } from '../statistics/support.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const wrong = (explanation: string): Score => ({
  scorer: 'includes',
  kind: 'includes',
  weight: 1,
  required: true,
  verdict: { kind: 'scored', value: 0, pass: false, explanation, metrics: {} },
});

/** One attempt a case, by its score. */
const cellsOf = (modelId: string, scores: readonly (number | null)[]): readonly ReportCell[] =>
  buildCells({
    modelId,
    outcomes: Object.fromEntries(
      scores.map((score, index) => [
        `case-${index + 1}`,
        [score === null ? ended('infra', 'connection') : scored(score)],
      ]),
    ),
  }).map((cell) =>
    cell.outcome?.kind === 'scored' && !cell.outcome.pass
      ? { ...cell, scores: [wrong('does not include "refund"')] }
      : cell,
  );

const runOf = (runId: string, cells: readonly ReportCell[], changes = {}): ReportRows =>
  buildRows({
    run: { runId },
    models: [...new Set(cells.map(({ modelId }) => modelId))].map((modelId) => buildModel(modelId)),
    request: changes,
    cells,
  });

const fill = (value: number, count: number): number[] => Array.from({ length: count }, () => value);

test('C17 a regression of 220 cases that an unpaired test hides is shown, with pairs, effect and interval', () => {
  const { both, first, second, cases, paired } = reference.hiddenRegression;
  const rest = cases - both - first - second;
  // The reference's second model is the better one: here it stands first, so that the other is a regression.
  const before = [...fill(1, both), ...fill(0, first), ...fill(1, second), ...fill(0, rest)];
  const after = [...fill(1, both + first), ...fill(0, second + rest)];
  const comparison = compare(
    pairRuns(runOf('old', cellsOf('m', before)), runOf('new', cellsOf('m', after)), []),
  );
  expect(comparison.pairs[0]).toMatchObject({
    method: 'mcnemar',
    cases: 220,
    onlyFirst: 0,
    better: first,
    worse: second,
    verdict: 'worse',
    interval: { method: 'newcombe', level: 0.95 },
  });
  expect(comparison.pairs[0]?.p).toBeCloseTo(paired, 12);
  expect(comparison.pairs[0]?.interval?.high).toBeLessThan(0);
});

test('what changed is listed: what broke first, with why, and cases that one side lacks are counted', async () => {
  const before = runOf('nightly-1', cellsOf('gpt', [1, 1, 1, 0.5, 0, 0.25, 1, null, 1]));
  const after = runOf('nightly-2', cellsOf('gpt', [1, 0, 0, 0.25, 1, 0.5, 1, 1, null]));
  const comparison = compare(pairRuns(before, after, []));
  expect(comparison.pairs[0]).toMatchObject({
    cases: 7,
    onlyFirst: 1,
    onlySecond: 1,
    better: 2,
    worse: 3,
    equal: 2,
    verdict: 'not_separated',
  });
  const changes = comparison.pairs[0]?.changes.map(({ kind, caseId }) => [kind, caseId]);
  expect(changes).toEqual([
    ['broken', 'case-2'],
    ['broken', 'case-3'],
    ['lower', 'case-4'],
    ['higher', 'case-6'],
    ['fixed', 'case-5'],
  ]);
  await expect(formatComparison(comparison, { width: 80, color: false })).toMatchFileSnapshot(
    'expected/comparison-80.txt',
  );
  await expect(formatComparisonMarkdown(comparison)).toMatchFileSnapshot('expected/comparison.md');
});

test('models of one run are compared in pairs, and p is adjusted for how many pairs there are', () => {
  const rows = runOf('r', [
    ...cellsOf('a', [...fill(1, 7), 0]),
    ...cellsOf('b', fill(0, 8)),
    ...cellsOf('c', fill(0, 8)),
  ]);
  const { pairs } = compare(pairModels(rows, []));
  expect(pairs.map(({ first, second }) => [first.modelId, second.modelId])).toEqual([
    ['a', 'b'],
    ['a', 'c'],
    ['b', 'c'],
  ]);
  // Alone it would separate: 2 x 0.5^7 = 0.0156. Of three it does with 0.0469, and the third pair is equal.
  expect(pairs.map(({ p, adjustedP }) => [p?.toFixed(6), adjustedP?.toFixed(6)])).toEqual([
    ['0.015625', '0.046875'],
    ['0.015625', '0.046875'],
    ['1.000000', '1.000000'],
  ]);
  expect(pairs.map(({ verdict }) => verdict)).toEqual(['worse', 'worse', 'not_separated']);
  expect(compare(pairModels(rows, ['a', 'c'])).pairs).toHaveLength(1);
});

test('what has no counterpart is said, and suites that differ are matched by the ids of their cases', () => {
  const one = runOf('one', [...cellsOf('a', [1, 0]), ...cellsOf('b', [1, 0])]);
  const other = runOf('other', cellsOf('a', [1, 1]), { suiteDigest: 'e'.repeat(64) });
  const { pairs, notes } = compare(pairRuns(one, other, []));
  expect(pairs).toHaveLength(1);
  expect(notes.map(({ code, text }) => [code, text])).toEqual([
    ['suites_differ', 'the suites differ (tickets, tickets): cases are matched by their ids'],
    ['model_missing', 'other has no model b'],
  ]);
  const elsewhere = compare(pairRuns(one, runOf('x', cellsOf('a', [1]), { name: 'else' }), []));
  expect(elsewhere.pairs).toHaveLength(1);
});

test('two runs of one model each are compared whatever the models are called', () => {
  const { pairs } = compare(
    pairRuns(runOf('one', cellsOf('v1', [1, 0])), runOf('two', cellsOf('v2', [1, 1])), []),
  );
  expect(pairs[0]).toMatchObject({ first: { modelId: 'v1' }, second: { modelId: 'v2' } });
});

test('runs without a shared case, and without a shared model, give no figure and no error', () => {
  const apart = compare(
    pairRuns(runOf('one', cellsOf('m', [1, null])), runOf('two', cellsOf('m', [null, 1])), []),
  );
  expect(apart.pairs[0]).toMatchObject({
    verdict: 'nothing_shared',
    difference: null,
    p: null,
    adjustedP: null,
  });
  expect(formatComparison(apart, { width: 80, color: false })).toContain('no shared case');
  const none = compare({ pairs: [], notes: [] });
  expect(formatComparison(none, { width: 80, color: false })).toContain('Nothing to compare');
  expect(formatComparisonMarkdown(none)).toContain('Nothing to compare');
});

test('a comparison follows its schema, and graded values have a bootstrap interval too', () => {
  const graded = (shift: number) => Array.from({ length: 12 }, (_, index) => (index % 4) / 5 + shift);
  const comparison = compare(
    pairRuns(
      runOf('one', cellsOf('m', graded(0))),
      runOf(
        'two',
        cellsOf(
          'm',
          graded(0.1).map((v, i) => v + i / 100),
        ),
      ),
      [],
    ),
  );
  expect(comparisonSchema.safeParse(comparison).success).toBe(true);
  const kept = readFileSync('schemas/comparison.schema.json', 'utf8');
  expect(JSON.parse(kept)).toEqual(JSON.parse(JSON.stringify(toComparisonJsonSchema())));
  expect(comparison.pairs[0]).toMatchObject({
    method: 'permutation',
    verdict: 'better',
    interval: { method: 't' },
    bootstrap: { method: 'bootstrap' },
  });
});
