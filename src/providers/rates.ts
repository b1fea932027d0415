import type { Rates } from '../domain/usage.ts';

/** Rates in USD per million tokens: input and output, then read from the cache and written to it. */
export const toRates = (
  [input, output]: readonly [input: number, output: number],
  [cacheRead, cacheWrite]: readonly [read: number | null, write: number | null],
): Rates => ({ input, output, cacheRead, cacheWrite });
