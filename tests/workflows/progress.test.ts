import { expect, test } from 'vitest';
import type { RunBrief } from '../../src/domain/workflow-brief.ts';
import { formatEnd, formatProgress, formatTaskProgress } from '../../src/workflows/progress.ts';

const run: RunBrief = {
  runId: 'nightly',
  generation: 1,
  execution: {
    taskConcurrency: 4,
    timeoutMs: null,
    cleanupGraceMs: 30_000,
    failFast: false,
    seed: 7,
    packing: 'auto',
  },
  modelQueues: {},
  startedAtMs: 0,
  searchAttributes: true,
};
const plan = {
  run,
  plannedCells: 24,
  summary: '2 requests x 3 models',
  openCount: 1,
  pause: null,
  halt: null,
  missingKeys: [],
};
const totals = { tally: { scored: 6, infra: 2 }, passed: 5, faults: [] };

test('the details of a run tell how far it is and what came of it', () => {
  expect(formatProgress({ ...plan, totals })).toBe(
    '**Running: 8 of 24 cells (33 %)** · 6 scored, 2 infra · 5 passed\n\n2 requests x 3 models · 1 task workflow open',
  );
});

test('a run whose key is lost says what to type', () => {
  const lines = formatProgress({ ...plan, totals, missingKeys: ['A_KEY', 'B_KEY'] }).split('\n\n');
  expect(lines[2]).toBe(
    'Waiting for A_KEY and B_KEY, which no worker has: `export A_KEY=...; export B_KEY=...`, then ' +
      '`assay watch nightly` hands them over (for workers on other machines: export there and start them again).',
  );
});

test('a later generation, a stop and faults are named', () => {
  const halt = {
    state: 'cancelled',
    reason: { code: 'cancelled', phase: 'run', message: 'by hand' },
  } as const;
  const later = { ...plan, run: { ...run, generation: 2 }, openCount: 0, halt };
  const lines = formatProgress({ ...later, totals: { ...totals, faults: ['a1 broke'] } }).split('\n\n');
  expect(lines.slice(1)).toEqual([
    '2 requests x 3 models · generation 2 · 0 task workflows open',
    'Stopping: **cancelled** – by hand',
    '- a1 broke',
  ]);
});

test('the details of an ended run are those of the store, with what is missing and where its leaderboard is', () => {
  const reason = { code: 'budget', phase: 'run', message: 'budgets.maxRunUsd is used up' } as const;
  const end = { runId: 'nightly', state: 'stopped_budget', reason, planned: 3, recorded: 2 } as const;
  expect(formatEnd({ ...end, outcomes: { scored: 2 }, missing: ['tickets/fast/c1/a1'] })).toBe(
    [
      '**Stopped budget: 2 of 3 cells** · 2 scored',
      'Leaderboard: `assay report nightly`',
      'budgets.maxRunUsd is used up',
      'Cells without a row: tickets/fast/c1/a1',
    ].join('\n\n'),
  );
});

test('the details of a task workflow tell its attempts', () => {
  expect(formatTaskProgress({ attempts: 12, tally: { scored: 3 }, passed: 1 })).toBe(
    '**3 of 12 attempts** · 3 scored · 1 passed',
  );
});
