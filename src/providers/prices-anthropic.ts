import type { PriceRow, PriceTable } from './price-table.ts';
import { toRates } from './rates.ts';

const LARGE = { contextTokens: 1_000_000, maxOutputTokens: 128_000 };
const OLDER = { contextTokens: 200_000, maxOutputTokens: 64_000 };

/** Writes are those that stay five minutes: Assay asks for no others. */
const ROWS: readonly PriceRow[] = [
  // Its cache rates are not known here.
  { model: 'claude-fable-5-2', price: null, ...LARGE },
  { model: 'claude-fable-5-1', price: toRates([10, 50], [0.25, 12.5]), ...LARGE },
  { model: 'claude-fable-5', price: toRates([10, 50], [1, 12.5]), ...LARGE },
  { model: 'claude-opus-5-5', price: toRates([4, 20], [0.2, 5]), ...LARGE },
  { model: 'claude-opus-5', price: toRates([5, 25], [0.5, 6.25]), ...LARGE },
  { model: 'claude-opus-4-8', price: toRates([5, 25], [0.5, 6.25]), ...LARGE },
  { model: 'claude-opus-4-7', price: toRates([5, 25], [0.5, 6.25]), ...LARGE },
  { model: 'claude-opus-4-6', price: toRates([5, 25], [0.5, 6.25]), ...LARGE },
  { model: 'claude-opus-4-5', price: toRates([5, 25], [0.5, 6.25]), ...OLDER },
  { model: 'claude-sonnet-5-5', price: toRates([2, 10], [0.1, 2.5]), ...LARGE },
  { model: 'claude-sonnet-5', price: toRates([2, 10], [0.2, 2.5]), ...LARGE },
  { model: 'claude-sonnet-4-6', price: toRates([3, 15], [0.3, 3.75]), ...LARGE },
  { model: 'claude-sonnet-4-5', price: toRates([3, 15], [0.3, 3.75]), ...OLDER },
  {
    model: 'claude-haiku-5-5',
    price: {
      ...toRates([0.1, 0.5], [0.01, 0.125]),
      long: { aboveInputTokens: 100_000, rates: toRates([0.5, 2.5], [0.05, 0.625]) },
    },
    ...LARGE,
  },
  { model: 'claude-haiku-4-5', price: toRates([1, 5], [0.1, 1.25]), ...OLDER },
];

export const ANTHROPIC_PRICES: PriceTable = {
  kind: 'anthropic',
  date: '2026-10-24',
  source: 'https://platform.claude.com/docs/en/about-claude/pricing',
  rows: ROWS,
};
