import { expect, test } from 'vitest';
import { matchRun } from '../../src/client/match-run.ts';
import { checkRunId, createRunId } from '../../src/client/run-id.ts';

const now = new Date('2026-03-01T23:59:00.000Z');
const runs = ['bot-20260302-aaaa', 'bot-20260301-bbbb', 'quick-20260228-cccc'];

test.each([
  ['Support Bot', /^support-bot-20260301-[a-z0-9]{4}$/],
  ['Évaluation №1!', /^evaluation-no1-20260301-[a-z0-9]{4}$/],
  ['???', /^run-20260301-[a-z0-9]{4}$/],
  ['x'.repeat(200), /^x{40}-20260301-[a-z0-9]{4}$/],
])('the id of a run named %s is readable', (name, pattern) => {
  const runId = createRunId(name, now);
  expect(runId).toMatch(pattern);
  expect(checkRunId(runId)).toBe(runId);
});

test.each(['', 'a b', 'a/b', '../x', 'last', '-x', 'a\u0000', 'x'.repeat(101)])(
  'AF-16 %j cannot be a run id',
  (runId) => {
    expect(() => checkRunId(runId)).toThrow('cannot be a run id');
  },
);

test('a run is meant by its id, by a unique prefix, or by `last`', () => {
  expect(matchRun('last', runs)).toEqual({ kind: 'found', runId: 'bot-20260302-aaaa' });
  expect(matchRun('quick', runs)).toEqual({ kind: 'found', runId: 'quick-20260228-cccc' });
  expect(matchRun('bot-20260301-bbbb', runs)).toEqual({ kind: 'found', runId: 'bot-20260301-bbbb' });
  expect(matchRun('bot-20260302-aaaa', [...runs, 'bot-20260302-aaaa-2'])).toMatchObject({ kind: 'found' });
});

test('a prefix of several runs names them', () => {
  expect(matchRun('bot', runs)).toEqual({ kind: 'ambiguous', runIds: runs.slice(0, 2) });
});

test('an unknown run names the nearest', () => {
  expect(matchRun('bot-20260301-bbbc', runs)).toEqual({
    kind: 'unknown',
    nearest: ['bot-20260301-bbbb', 'bot-20260302-aaaa'],
  });
  expect(matchRun('quik', runs)).toMatchObject({ kind: 'unknown', nearest: ['quick-20260228-cccc'] });
  expect(matchRun('zzzzzzzz', runs)).toEqual({ kind: 'unknown', nearest: [] });
  expect(matchRun('last', [])).toEqual({ kind: 'unknown', nearest: [] });
  expect(matchRun('', runs)).toMatchObject({ kind: 'unknown' });
});
