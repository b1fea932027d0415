import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bootstrapMean } from '../../src/statistics/bootstrap.ts';
import { createRandom } from '../../src/statistics/random.ts';
import { reference, toCases } from './support.ts';

test("with SciPy's draws the percentile bootstrap has SciPy's limits", () => {
  for (const { values, resamples, level, drawn, low, high } of reference.bootstrap) {
    const draws = drawn.values().map((place) => (place + 0.5) / values.length);
    const random = (): number => draws.next().value!;
    const interval = bootstrapMean(toCases(values), { random, resamples, level });
    expect(interval?.low).toBeCloseTo(low, 10);
    expect(interval?.high).toBeCloseTo(high, 10);
  }
});

test('one seed gives one interval, another seed one close by', () => {
  const values = toCases(Array.from({ length: 40 }, (_, index) => ((index * 7) % 11) / 10));
  const at = (seed: number) => bootstrapMean(values, { random: createRandom(seed) });
  expect(at(1)).toEqual(at(1));
  expect(at(2)).not.toEqual(at(1));
  expect(at(2)?.low).toBeCloseTo(at(1)?.low ?? NaN, 1);
});

test('clusters are drawn whole, cases without weight never, and one cluster has no interval', () => {
  const values = toCases([1, 1, 0, 0]);
  const grouped = values.map((item, index) => ({ ...item, cluster: index < 2 ? 'a' : 'b' }));
  expect(bootstrapMean(grouped, { random: createRandom(1) })).toMatchObject({ low: 0, high: 1 });
  const weightless = values.map((item) => ({ ...item, weight: item.value }));
  expect(bootstrapMean(weightless, { random: createRandom(1) })).toMatchObject({ low: 1, high: 1 });
  expect(bootstrapMean(values.slice(0, 1), { random: createRandom(1) })).toBeNull();
  expect(bootstrapMean([], { random: createRandom(1) })).toBeNull();
});

test('the limits lie among the values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 2, maxLength: 20 }),
      fc.integer(),
      (values, seed) => {
        const interval = bootstrapMean(toCases(values), { random: createRandom(seed), resamples: 50 });
        expect(interval?.low).toBeGreaterThanOrEqual(Math.min(...values) - 1e-12);
        expect(interval?.high).toBeLessThanOrEqual(Math.max(...values) + 1e-12);
        expect(interval?.low).toBeLessThanOrEqual(interval?.high ?? NaN);
      },
    ),
    { numRuns: 50 },
  );
});

test('draws are even, depend on the seed alone, and large seeds differ', () => {
  const random = createRandom(7);
  const draws = Array.from({ length: 20_000 }, random);
  expect(draws.every((draw) => draw >= 0 && draw < 1)).toBe(true);
  const counts = Map.groupBy(draws, (draw) => Math.floor(draw * 10));
  for (const part of counts.values()) expect(Math.abs(part.length - 2_000)).toBeLessThan(200);
  expect(createRandom(7)()).toBe(draws[0]);
  expect(createRandom(7 + 2 ** 40)()).not.toBe(draws[0]);
});
