import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adjustHolm } from '../../src/statistics/holm.ts';
import { reference } from './support.ts';

test("adjusted p-values equal those of statsmodels' multipletests", () => {
  for (const { p, adjusted } of reference.holm) {
    for (const [index, value] of adjustHolm(p).entries()) expect(value).toBeCloseTo(adjusted[index]!, 12);
  }
  expect(adjustHolm([])).toEqual([]);
});

test('an adjusted p-value is never below its own, nor above 1, and keeps the order', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 }), (values) => {
      const adjusted = adjustHolm(values);
      for (const [index, p] of values.entries()) {
        expect(adjusted[index]).toBeGreaterThanOrEqual(p);
        expect(adjusted[index]).toBeLessThanOrEqual(1);
        const above = values.flatMap((q, other) => (p < q ? [adjusted[other]!] : []));
        expect(adjusted[index]).toBeLessThanOrEqual(Math.min(1, ...above));
      }
    }),
  );
});
