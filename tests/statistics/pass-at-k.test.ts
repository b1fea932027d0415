import fc from 'fast-check';
import { expect, test } from 'vitest';
import { estimatePassAtK, estimatePassHatK } from '../../src/statistics/pass-at-k.ts';
import { reference } from './support.ts';

test('pass@k and pass^k equal the binomial formulas', () => {
  for (const { attempts, passes, k, passAtK, passHatK } of reference.passAtK) {
    expect(estimatePassAtK([{ attempts, passes }], k).value).toBeCloseTo(passAtK, 12);
    expect(estimatePassHatK([{ attempts, passes }], k).value).toBeCloseTo(passHatK, 12);
  }
});

test('F25 a case with too few scored attempts has no pass@k, neither 0 nor 1', () => {
  const cases = [
    { attempts: 3, passes: 1 },
    { attempts: 1, passes: 0 },
    { attempts: 3, passes: 0 },
    { attempts: 3, passes: 3 },
    { attempts: 1, passes: 1 },
  ];
  expect(estimatePassAtK(cases, 1).value).toBeCloseTo(0.46667, 5);
  expect(estimatePassAtK(cases, 3)).toEqual({ k: 3, value: 2 / 3, cases: 3, ofCases: 5 });
  expect(estimatePassHatK(cases, 3)).toEqual({ k: 3, value: 1 / 3, cases: 3, ofCases: 5 });
  expect(estimatePassAtK(cases.slice(1, 2), 3)).toEqual({ k: 3, value: null, cases: 0, ofCases: 1 });
});

test('pass@k grows and pass^k shrinks with k', () => {
  const tally = fc
    .integer({ min: 2, max: 30 })
    .chain((attempts) =>
      fc.record({ attempts: fc.constant(attempts), passes: fc.integer({ min: 0, max: attempts }) }),
    );
  fc.assert(
    fc.property(tally, (one) => {
      for (let k = 2; k <= one.attempts; k += 1) {
        const at = (count: number) => estimatePassAtK([one], count).value ?? NaN;
        const hat = (count: number) => estimatePassHatK([one], count).value ?? NaN;
        expect(at(k)).toBeGreaterThanOrEqual(at(k - 1) - 1e-12);
        expect(hat(k)).toBeLessThanOrEqual(hat(k - 1) + 1e-12);
      }
    }),
  );
});
