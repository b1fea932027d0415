import { expect, test } from 'vitest';
import { addOutcome, addTally, countTally, formatTally, tallySince } from '../../src/domain/tally.ts';

test('outcomes are counted, summed and told in one line', () => {
  const one = addOutcome(addOutcome({}, 'scored'), 'not_run');
  const both = addTally(one, { scored: 2, infra: 1 });
  expect(both).toEqual({ scored: 3, infra: 1, not_run: 1 });
  expect(countTally(both)).toBe(5);
  expect(formatTally(both)).toBe('3 scored, 1 infra, 1 not run');
  expect(formatTally({})).toBe('nothing yet');
});

test('what was added since an earlier count is told without what was there', () => {
  expect(tallySince({ scored: 3, infra: 1 }, { scored: 2, infra: 1 })).toEqual({ scored: 1 });
  expect(tallySince({ scored: 3 }, {})).toEqual({ scored: 3 });
});
