import { expect, test } from 'vitest';
import { decideExit, type RunEnd } from '../../src/cli/exit-code.ts';
import { judgeGates, type GatedBoard } from '../../src/domain/gates.ts';
import type { Gates } from '../../src/domain/run.ts';

const noGates: Gates = {
  minCoverage: null,
  minPassRate: null,
  minMean: null,
  maxUnscoredRate: null,
  requireModels: false,
};
const board: GatedBoard = {
  requestName: 'tickets',
  modelId: 'fast',
  planned: 10,
  scored: 10,
  unscored: 0,
  passRate: 0.8,
  mean: 0.75,
  skippedReason: null,
};
const end: RunEnd = { state: 'completed', gateFailures: [], planned: 10, scored: 10, unfinished: 0 };

const failing = (boards: readonly GatedBoard[], gates: Partial<Gates>): readonly string[] =>
  judgeGates(boards, { ...noGates, ...gates }).map((failure) => failure.gate);

test.each<[string, { board?: Partial<GatedBoard>; gates?: Partial<Gates> }, readonly string[]]>([
  ['no gate', { board: { scored: 1, unscored: 9, passRate: 0 } }, []],
  ['pass rate at its gate', { gates: { minPassRate: 0.8 } }, []],
  ['pass rate below its gate', { gates: { minPassRate: 0.81 } }, ['minPassRate']],
  ['a sum of binary fractions', { board: { passRate: 0.1 + 0.7 }, gates: { minPassRate: 0.8 } }, []],
  ['pass rate without a score', { board: { passRate: null }, gates: { minPassRate: 0.1 } }, ['minPassRate']],
  ['mean below its gate', { gates: { minMean: 0.9 } }, ['minMean']],
  ['mean above its gate', { gates: { minMean: 0.7 } }, []],
  ['coverage at its gate', { board: { scored: 9 }, gates: { minCoverage: 0.9 } }, []],
  ['coverage below its gate', { board: { scored: 8 }, gates: { minCoverage: 0.9 } }, ['minCoverage']],
  ['coverage of nothing', { board: { planned: 0, scored: 0 }, gates: { minCoverage: 0.5 } }, ['minCoverage']],
  ['unscored rate at its gate', { board: { scored: 8, unscored: 2 }, gates: { maxUnscoredRate: 0.2 } }, []],
  [
    'unscored rate above its gate',
    { board: { scored: 7, unscored: 3 }, gates: { maxUnscoredRate: 0.2 } },
    ['maxUnscoredRate'],
  ],
  [
    'a skipped model that is not required',
    { board: { skippedReason: 'no key', scored: 0, passRate: null }, gates: { minPassRate: 0.5 } },
    [],
  ],
  [
    'a skipped model that is required',
    { board: { skippedReason: 'no key' }, gates: { requireModels: true } },
    ['requireModels'],
  ],
  [
    'several gates at once',
    { board: { scored: 5 }, gates: { minCoverage: 0.9, minMean: 0.8, minPassRate: 0.1 } },
    ['minCoverage', 'minMean'],
  ],
])('gates: %s', (_name, given, expected) => {
  expect(failing([{ ...board, ...given.board }], given.gates ?? {})).toEqual(expected);
});

test('every model of every request has to meet a gate, and the message names the one that does not', () => {
  const slow = { ...board, modelId: 'slow', passRate: 0.5 };
  const [failure, ...others] = judgeGates([board, slow], { ...noGates, minPassRate: 0.6 });
  expect(others).toEqual([]);
  expect(failure).toMatchObject({ modelId: 'slow', limit: 0.6, measured: 0.5 });
  expect(failure?.message).toBe('tickets / slow: pass rate 0.5 is below; the gate minPassRate is 0.6');
});

const coverage = { gate: 'minCoverage', message: 'coverage' } as const;
const passRate = { gate: 'minPassRate', message: 'pass rate' } as const;

test.each<[string, Partial<RunEnd>, number]>([
  ['a completed run', {}, 0],
  ['a completed run with errors and no gate', { scored: 4 }, 0],
  ['a completed run below a gate', { gateFailures: [passRate] }, 100],
  ['a completed run below its coverage', { gateFailures: [coverage] }, 101],
  ['coverage and another gate', { gateFailures: [passRate, coverage] }, 101],
  ['a completed run that left cells out', { unfinished: 3, scored: 7 }, 101],
  ['a completed run without a score', { scored: 0 }, 101],
  ['a failed run', { state: 'failed', gateFailures: [coverage] }, 1],
  ['a cancelled run', { state: 'cancelled', gateFailures: [coverage, passRate] }, 130],
  ['a run stopped by its budget', { state: 'stopped_budget' }, 101],
  ['a run past its deadline', { state: 'timed_out' }, 101],
  ['a run ended by fail-fast', { state: 'aborted', gateFailures: [passRate] }, 101],
  ['a run that is still open', { state: 'running' }, 101],
])('exit code of %s', (_name, change, code) => {
  const decision = decideExit({ ...end, ...change });
  expect(decision.code).toBe(code);
  expect(decision.reasons.length > 0).toBe(code !== 0);
});
