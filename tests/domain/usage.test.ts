import { expect, test } from 'vitest';
import {
  addKnown,
  addUsage,
  toCostUsd,
  withoutLong,
  totalTokens,
  UNKNOWN_USAGE,
  type Price,
  type Usage,
} from '../../src/domain/usage.ts';

const usage = (change: Partial<Usage>): Usage => ({
  ...UNKNOWN_USAGE,
  inputTokens: 1_000,
  outputTokens: 500,
  ...change,
});
const price: Price = { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 };

test.each([
  { what: 'plain tokens', tokens: usage({}), card: price, expected: 0.007 },
  {
    what: 'cached tokens at their own rates',
    tokens: usage({ cacheReadTokens: 400, cacheWriteTokens: 100 }),
    card: price,
    expected: 0.006_33,
  },
  {
    what: 'cached tokens without a rate',
    tokens: usage({ cacheReadTokens: 400 }),
    card: { ...price, cacheRead: null },
    expected: 0.007,
  },
  {
    what: 'reasoning is part of the output',
    tokens: usage({ reasoningTokens: 300 }),
    card: price,
    expected: 0.007,
  },
  {
    what: 'more cached than read',
    tokens: usage({ cacheReadTokens: 2_000 }),
    card: price,
    expected: 0.005_4,
  },
  { what: 'AA-15 no price', tokens: usage({}), card: null, expected: null },
  {
    what: 'free, whatever is unknown',
    tokens: UNKNOWN_USAGE,
    card: { input: 0, output: 0, cacheRead: null, cacheWrite: null },
    expected: 0,
  },
  { what: 'AA-15 no output known', tokens: usage({ outputTokens: null }), card: price, expected: null },
])('cost: $what', ({ tokens, card, expected }) => {
  const cost = toCostUsd(tokens, card);
  expect(cost === null ? null : Number(cost.toFixed(9))).toBe(expected);
});

test('what is unknown stays unknown in sums, and is never 0', () => {
  expect(addKnown(null, null)).toBeNull();
  expect(addKnown(null, 3)).toBe(3);
  expect(totalTokens(UNKNOWN_USAGE)).toBeNull();
  expect(addUsage(usage({ reasoningTokens: 1 }), usage({}))).toEqual(
    usage({ inputTokens: 2_000, outputTokens: 1_000, reasoningTokens: 1 }),
  );
});

test('a call with a long input is charged at its own rates, whole', () => {
  const short = { input: 1, output: 10, cacheRead: 0.1, cacheWrite: null };
  const rates = { input: 2, output: 15, cacheRead: 0.2, cacheWrite: null };
  const price = { ...short, long: { aboveInputTokens: 200_000, rates } };
  const of = (inputTokens: number) => ({ ...UNKNOWN_USAGE, inputTokens, outputTokens: 1_000_000 });
  expect(toCostUsd(of(200_000), price)).toBeCloseTo(10.2);
  expect(toCostUsd(of(200_001), price)).toBeCloseTo(15.400002);
  expect(toCostUsd(of(200_001), { ...price, long: { ...price.long, rates: null } })).toBeNull();
  expect(toCostUsd(of(900_000), withoutLong(price))).toBeCloseTo(10.9);
});
