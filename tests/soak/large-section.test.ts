import { expect, test } from 'vitest';
import type { LargeTrialResult } from '../crash/large-trial.ts';
import { formatLarge, judgeLarge } from './large-section.ts';

const held: LargeTrialResult = {
  problems: [],
  madeAgain: 0,
  extraRequests: 40,
  inFlight: 64,
  firstNewMs: 3_550,
  cutOffMs: 12_000,
  planned: 20_000,
  cellsLost: 0,
  completionMs: 200_000,
  typed: 1,
  workerStartMs: 2_800,
  seconds: 420,
  histories: { executions: 803, runExecutions: 2, mostEvents: 8_012, mostBytes: 3 * 2 ** 20 },
  memory: Array.from({ length: 100 }, (_, index) => ({
    seconds: index * 4,
    requests: index * 200,
    workerMb: index === 50 ? 0 : 500,
    temporalMb: index === 50 ? 0 : 400,
  })),
};

const listMissed = (result: LargeTrialResult) =>
  judgeLarge(result).flatMap(({ what, holds }) => (holds ? [] : [what]));

test('a large run that held shows it, with two dozen looks at memory, a dash where everything was dead', () => {
  expect(listMissed(held)).toEqual([]);
  const text = formatLarge(held, { cores: 2, load: 2.5 });
  expect(text).toContain('| Worker started to first request not yet sent | 3.5 s | at most 5 s | yes |');
  expect(text).toContain('| Planned and recorded | 20000 and 20000 | equal | yes |');
  expect(text).toContain('| 200 | 10000 | - | - |');
  expect(text.split('\n').filter((line) => /^\| \d+ \|/.test(line)).length).toBeLessThanOrEqual(25);
});

test('what a large run missed is named, and no call in flight is nothing to time', () => {
  const missed = { ...held, cellsLost: 1, madeAgain: 2, firstNewMs: 5_001, problems: ['one'] };
  expect(listMissed(missed)).toEqual([
    'Planned cells without exactly one result',
    'Recorded calls made again',
    'Other problems',
    'Worker started to first request not yet sent',
    'Planned and recorded',
  ]);
  expect(listMissed({ ...held, extraRequests: 65 })).toEqual(['Requests beyond the first of a call']);
  expect(listMissed({ ...held, firstNewMs: null, cutOffMs: null })).toEqual([]);
});
