import { expect, test } from 'vitest';
import { scored, turned, unscored } from '../../src/scorers/verdict.ts';

const verdict = (value: number, threshold: number) => scored({ value, threshold, explanation: 'why' });

test('under not a scorer passes when it would not, and its value is turned', () => {
  expect(turned(verdict(1, 1))).toMatchObject({ value: 0, pass: false, explanation: 'must not pass: why' });
  expect(turned(verdict(0, 1))).toMatchObject({
    value: 1,
    pass: true,
    explanation: 'rightly does not pass: why',
  });
  expect(turned(verdict(0.7, 0.8))).toMatchObject({ pass: true });
});

test('no judgement stays no judgement', () => {
  expect(turned(unscored('time_out', 'late'))).toEqual(unscored('time_out', 'late'));
});
