import { expect, test } from 'vitest';
import { gradeAttempt } from '../../src/domain/grade.ts';
import type { Score } from '../../src/domain/score.ts';

const answered = (value: number, changes: Partial<Score> & { pass?: boolean } = {}): Score => ({
  scorer: 'exact',
  kind: 'exact',
  weight: 1,
  required: true,
  ...changes,
  verdict: { kind: 'scored', value, pass: changes.pass ?? value === 1, explanation: '', metrics: {} },
});

const silent = (changes: Partial<Score> = {}, code = 'scorer_failed'): Score => ({
  scorer: 'judge',
  kind: 'judge',
  weight: 1,
  required: true,
  ...changes,
  verdict: { kind: 'unscored', code, explanation: 'no verdict' },
});

const grade = (...scores: Score[]) => gradeAttempt({ scores, limit: null });

test('the score is the weighted mean and passes when every scorer passes', () => {
  expect(grade(answered(1, { weight: 3 }), answered(0))).toMatchObject({ score: 0.75, pass: false });
  expect(grade(answered(0.6, { pass: true }), answered(1))).toMatchObject({ score: 0.8, pass: true });
});

test('C11 a required scorer without an answer makes the attempt unscored and is named', () => {
  const outcome = grade(answered(1), silent({ scorer: 'tests' }));
  expect(outcome).toMatchObject({
    kind: 'unscored',
    reason: { code: 'scorer_failed', phase: 'evaluate', message: 'scorer tests: no verdict' },
  });
  expect(grade(silent({}, 'time_out'))).toMatchObject({ reason: { code: 'scorer_time_out' } });
});

test('an optional scorer without an answer leaves the mean', () => {
  expect(grade(answered(0.5), silent({ required: false }))).toMatchObject({ kind: 'scored', score: 0.5 });
  expect(grade(silent({ required: false }))).toMatchObject({
    kind: 'unscored',
    reason: { code: 'no_score' },
  });
});

test('no scorer, or only weights of 0, is unscored', () => {
  expect(grade()).toMatchObject({ kind: 'unscored', reason: { code: 'no_score' } });
  expect(grade(answered(1, { weight: 0 }))).toMatchObject({ kind: 'unscored' });
});

test('a weight of 0 decides nothing', () => {
  expect(grade(answered(1), answered(0, { weight: 0 }))).toMatchObject({ score: 1, pass: true });
});

test('a limit is kept and changes no score', () => {
  const limit = { kind: 'steps', limit: 30, measured: 30 } as const;
  expect(gradeAttempt({ scores: [answered(1)], limit })).toEqual({
    kind: 'scored',
    score: 1,
    pass: true,
    limit,
  });
  expect(gradeAttempt({ scores: [], limit })).toMatchObject({ kind: 'unscored', limit });
});
