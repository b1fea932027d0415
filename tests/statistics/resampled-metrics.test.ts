import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toPercentile } from '../../src/statistics/percentile.ts';
import { measure, toMetricTable } from '../../src/statistics/resampled-metrics.ts';
import { toCases } from './support.ts';

test('a metric over counted cases equals the one over a list that repeats them', () => {
  const latency = fc.integer({ min: 1, max: 500 });
  const item = fc.record({
    value: fc.double({ min: 0, max: 1, noNaN: true }),
    latenciesMs: fc.array(latency, { maxLength: 3 }),
    count: fc.integer({ min: 0, max: 3 }),
  });
  fc.assert(
    fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), (items) => {
      const cases = toCases(items.map(({ value }) => value));
      const taken = new Map(
        items.map(({ latenciesMs }, index) => [
          `c${index}`,
          { latenciesMs, costsUsd: latenciesMs.map((ms) => ms / 1e4) },
        ]),
      );
      const table = toMetricTable(cases, taken);
      const counts = Int32Array.from(items, ({ count }) => count);
      const repeated = items.flatMap((one) => Array.from({ length: one.count }, () => one));
      const latencies = repeated.flatMap(({ latenciesMs }) => latenciesMs);
      const mean = (values: readonly number[]) =>
        values.reduce((sum, one) => sum + one, 0) / Math.max(1, values.length);
      expect(measure(table, 'accuracy', counts)).toBeCloseTo(mean(repeated.map(({ value }) => value)), 10);
      expect(measure(table, 'cost', counts)).toBeCloseTo(mean(latencies.map((ms) => ms / 1e4)), 10);
      expect(measure(table, 'latencyP50', counts)).toBeCloseTo(toPercentile(latencies, 0.5) ?? 0, 9);
      expect(measure(table, 'latencyP95', counts)).toBeCloseTo(toPercentile(latencies, 0.95) ?? 0, 9);
    }),
  );
});
