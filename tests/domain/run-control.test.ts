import { describe, expect, test } from 'vitest';
import { estimateOpenUsd, findApprovalNeed, toRefusal } from '../../src/domain/approval.ts';
import { takeBack, type Holder } from '../../src/domain/places.ts';
import {
  endPause,
  findLimitProblem,
  findSenderProblem,
  toDeadlineMs,
  toSender,
  type RunControlState,
} from '../../src/domain/run-control.ts';

const state: RunControlState = {
  taskConcurrency: 4,
  timeoutMs: 10_000,
  startedAtMs: 1_000,
  pausedMs: 0,
  pause: null,
};

test('a pause moves the deadline by its length, and there is none while it lasts', () => {
  expect(toDeadlineMs(state)).toBe(11_000);
  const paused = { ...state, pause: { sinceMs: 5_000, by: null, note: null } };
  expect(toDeadlineMs(paused)).toBeNull();
  const after = endPause(paused, 65_000);
  expect(after).toEqual({ ...state, pausedMs: 60_000 });
  expect(toDeadlineMs(after)).toBe(71_000);
  expect(endPause(state, 65_000)).toBe(state);
  expect(toDeadlineMs({ ...state, timeoutMs: null })).toBeNull();
});

describe('messages to a run are checked as a whole', () => {
  test.each([
    [{ taskConcurrency: 8 }, 'no problem'],
    [{ slots: { local: 'auto', other: 3 }, timeoutMs: null, by: 'ana' }, 'no problem'],
    [{ maxRunUsd: 0.5, maxModelUsd: 1, maxRunTokens: 10 }, 'no problem'],
    [{ by: 'ana' }, 'nothing to set: expected taskConcurrency'],
    [{ taskConcurrency: 1.5 }, 'taskConcurrency: expected a whole number from 1'],
    [{ slots: 4 }, 'slots: expected'],
    [{ slots: {} }, 'slots: expected at least one'],
    [{ slots: { local: 0 } }, 'slots.local: expected a whole number'],
    [{ maxRunUsd: -1 }, 'maxRunUsd: expected an amount'],
    [{ timeoutMs: '2h' }, 'timeoutMs: expected a whole number'],
    [{ taskConcurrency: 8, note: 5 }, 'note: expected a text'],
    ['8', 'expected an object'],
  ])('%j', (input, problem) => {
    expect(findLimitProblem(input) ?? 'no problem').toContain(problem);
  });

  test('who and why are plain texts', () => {
    expect(findSenderProblem(undefined)).toBeNull();
    expect(findSenderProblem({ who: 'ana' })).toContain('who: expected one of by, note');
    expect(findSenderProblem([])).toContain('expected an object');
    expect(toSender({ by: ' ana\n', note: '' })).toEqual({ by: 'ana', note: null });
  });
});

const holder = (id: string, held: number, busy = true): Holder => ({
  id,
  attempts: 50,
  granted: held,
  held,
  busy,
});

test('places are taken from those that hold most, and from nobody who has nothing left to start', () => {
  const holders = [holder('a', 16), holder('b', 8), holder('c', 9, false)];
  expect(takeBack(holders, 0)).toEqual([]);
  expect(takeBack(holders, 8)).toEqual([{ id: 'a', places: 8 }]);
  expect(takeBack(holders, 100)).toEqual([
    { id: 'a', places: 16 },
    { id: 'b', places: 8 },
  ]);
});

describe('approval', () => {
  const budgets = { confirmAboveUsd: 10, approvalExpiryMs: 86_400_000 };

  test('a run above the threshold, or of unknown cost, needs somebody', () => {
    expect(findApprovalNeed(budgets, 10)).toBeNull();
    expect(findApprovalNeed(budgets, 10.01)).toMatchObject({ estimatedUsd: 10.01, aboveUsd: 10 });
    expect(findApprovalNeed(budgets, null)).toMatchObject({ estimatedUsd: null });
    expect(findApprovalNeed({ ...budgets, confirmAboveUsd: null }, null)).toBeNull();
  });

  test('what is left costs the share of its cells', () => {
    const model = { modelCalls: 0, inputTokens: 0, outputTokens: 0 };
    const models = [
      { ...model, modelId: 'a', cells: 10, costUsd: 20 },
      { ...model, modelId: 'b', cells: 10, costUsd: null },
    ];
    expect(estimateOpenUsd({ models }, new Map([['a', 5]]))).toBe(10);
    expect(
      estimateOpenUsd(
        { models },
        new Map([
          ['a', 5],
          ['b', 1],
        ]),
      ),
    ).toBeNull();
    expect(estimateOpenUsd({ models }, new Map())).toBe(0);
  });

  test('a run that nobody approved says why', () => {
    const need = { estimatedUsd: 20, aboveUsd: 10, expiryMs: 86_400_000 };
    expect(toRefusal({ kind: 'expired', by: null, note: null }, need)).toMatchObject({
      code: 'approval_expired',
      message: expect.stringContaining('within 24 h'),
    });
    expect(toRefusal({ kind: 'rejected', by: 'ana', note: 'no' }, need).message).toBe('rejected by ana: no');
  });
});
