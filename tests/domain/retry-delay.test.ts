import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ClassifiedFailure } from '../../src/domain/failure.ts';
import { parseRetryAfter, planRetry } from '../../src/domain/retry-delay.ts';

const NOW = Date.parse('2026-03-04T05:06:07Z');

const toFailure = (part: Partial<ClassifiedFailure> = {}): ClassifiedFailure => ({
  class: 'throttled',
  retryable: true,
  status: 429,
  retryAfterMs: null,
  served: false,
  message: 'busy',
  ...part,
});

const plan = (part: {
  failure?: Partial<ClassifiedFailure>;
  failuresSoFar?: number;
  max?: number;
  random?: number;
}) =>
  planRetry({
    failure: toFailure(part.failure),
    failuresSoFar: part.failuresSoFar ?? 0,
    retry: { max: part.max ?? 4, baseMs: 1000 },
    random: part.random ?? 0.5,
    now: NOW,
  });

describe('parseRetryAfter', () => {
  const cases: readonly [name: string, headers: { [name: string]: string }, expected: number | null][] = [
    ['whole seconds', { 'retry-after': '2' }, 2000],
    ['zero', { 'retry-after': '0' }, 0],
    ['seconds with decimals', { 'retry-after': '1.5' }, 1500],
    ['a negative number', { 'retry-after': '-3' }, null],
    ['a word', { 'retry-after': 'soon' }, null],
    ['a broken date', { 'retry-after': 'Wed, 99 Foo 2026' }, null],
    ['a date ahead', { 'retry-after': 'Wed, 04 Mar 2026 05:06:10 GMT' }, 3000],
    ['a date in the past', { 'retry-after': 'Wed, 04 Mar 2026 04:06:10 GMT' }, 0],
    ['milliseconds', { 'retry-after-ms': '1500' }, 1500],
    ['two minutes', { 'retry-after': '120' }, 120_000],
    ['both headers', { 'retry-after': '2', 'retry-after-ms': '1500' }, 1500],
    ['mixed case', { 'Retry-After': '2' }, 2000],
    ['an epoch', { 'retry-after': '1772600767' }, null],
    ['nothing', {}, null],
    ['an empty value', { 'retry-after': '' }, null],
    ['infinity', { 'retry-after': 'Infinity' }, null],
  ];

  test.each(cases)('AA-05 AF-03 F16 %s', (_name, headers, expected) => {
    expect(parseRetryAfter(headers, NOW)).toBe(expected);
  });

  test('F16 never gives NaN, a negative wait or a wait of years for any header text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const waitMs = parseRetryAfter({ 'retry-after': text }, NOW) ?? 0;
        expect(waitMs >= 0 && waitMs <= 366 * 86_400_000).toBe(true);
      }),
    );
  });
});

describe('planRetry', () => {
  test('AF-07 the back-off is full jitter in [0, min(60 s, base x 2^n)]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 5000 }),
        fc.double({ min: 0, max: 0.999999, noNaN: true }),
        (n, random) => {
          const limit = Math.min(60_000, 1000 * 2 ** Math.min(n, 32));
          const planned = plan({ failuresSoFar: n, max: 5001, random });
          expect(planned).toEqual({ kind: 'retry', delayMs: Math.round(random * limit) });
        },
      ),
    );
  });

  test('AA-05 retries = 5000 does not overflow', () => {
    expect(plan({ failuresSoFar: 4999, max: 5000, random: 0.999 })).toEqual({
      kind: 'retry',
      delayMs: 59_940,
    });
  });

  test('AF-07 AA-05 Retry-After replaces the back-off, plus up to one second', () => {
    expect(plan({ failure: { retryAfterMs: 2000 }, random: 0 })).toEqual({ kind: 'retry', delayMs: 2000 });
    expect(plan({ failure: { retryAfterMs: 2000 }, random: 0.999, failuresSoFar: 3 })).toEqual({
      kind: 'retry',
      delayMs: 2999,
    });
    expect(plan({ failure: { retryAfterMs: 0 }, random: 0.5 })).toEqual({ kind: 'retry', delayMs: 500 });
  });

  test('F16 C24 a wait above 60 s pauses the whole provider until a stated time', () => {
    expect(plan({ failure: { retryAfterMs: 60_000 }, random: 0 })).toEqual({
      kind: 'retry',
      delayMs: 60_000,
    });
    expect(plan({ failure: { retryAfterMs: 120_000 }, random: 0.5 })).toEqual({
      kind: 'pause_provider',
      untilMs: NOW + 120_500,
    });
  });

  test('C24 max 0 means no retry, and max n gives n retries', () => {
    expect(plan({ max: 0 })).toEqual({ kind: 'give_up' });
    expect(plan({ max: 4, failuresSoFar: 3 }).kind).toBe('retry');
    expect(plan({ max: 4, failuresSoFar: 4 })).toEqual({ kind: 'give_up' });
  });

  test('AA-04 a failure that is not retryable is given up at once, also with Retry-After', () => {
    expect(plan({ failure: { class: 'credential', retryable: false, retryAfterMs: 1000 } })).toEqual({
      kind: 'give_up',
    });
    expect(plan({ failure: { class: 'cancelled', retryable: true } })).toEqual({ kind: 'give_up' });
  });
});
