import type { Price } from '../domain/usage.ts';
import type { PriceRow, PriceTable } from './price-table.ts';
import { toRates } from './rates.ts';

/** Above 272,000 tokens of input the whole call costs twice the input and half as much again for the output. */
const withLong = (rates: ReturnType<typeof toRates>): Price => ({
  ...rates,
  long: {
    aboveInputTokens: 272_000,
    rates: {
      input: rates.input * 2,
      output: rates.output * 1.5,
      cacheRead: rates.cacheRead === null ? null : rates.cacheRead * 2,
      cacheWrite: rates.cacheWrite === null ? null : rates.cacheWrite * 2,
    },
  },
});

const GPT_5 = { contextTokens: 400_000, maxOutputTokens: 128_000 };
const GPT_6 = { contextTokens: 1_050_000, maxOutputTokens: 128_000 };
const GPT_4_1 = { contextTokens: 1_047_576, maxOutputTokens: 32_768 };
const GPT_4O = { contextTokens: 128_000, maxOutputTokens: 16_384 };

const ROWS: readonly PriceRow[] = [
  { model: 'gpt-6.2-sol', price: withLong(toRates([2, 10], [0.1, 2.5])), ...GPT_6 },
  { model: 'gpt-6.2-astra', price: withLong(toRates([8, 40], [0.4, 10])), ...GPT_6 },
  { model: 'gpt-6.1-sol', price: withLong(toRates([2, 10], [0.1, 2.5])), ...GPT_6 },
  { model: 'gpt-6-sol', price: withLong(toRates([2, 10], [0.2, 2.5])), ...GPT_6 },
  { model: 'gpt-6-luna', price: withLong(toRates([0.1, 0.5], [0.01, 0.125])), ...GPT_6 },
  { model: 'gpt-6-astra', price: withLong(toRates([10, 50], [1, 12.5])), ...GPT_6 },
  { model: 'gpt-5.6-terra', price: withLong(toRates([2, 12], [0.2, 2.5])), ...GPT_6 },
  { model: 'gpt-5.6-luna', price: withLong(toRates([0.2, 1.2], [0.02, 0.25])), ...GPT_6 },
  // The price of these was promised until 2026-11-21; what it is since then is not known here.
  { model: 'gpt-5.6-sol', aliases: ['gpt-5.6'], price: null, ...GPT_6 },
  { model: 'gpt-5.5', price: withLong(toRates([5, 30], [0.5, null])), ...GPT_6 },
  { model: 'gpt-5.4', price: withLong(toRates([2.5, 15], [0.25, null])), ...GPT_6 },
  { model: 'gpt-5.4-mini', price: toRates([0.75, 4.5], [0.075, null]), ...GPT_5 },
  { model: 'gpt-5.4-nano', price: toRates([0.2, 1.25], [0.02, null]), ...GPT_5 },
  { model: 'gpt-5.2', price: toRates([1.75, 14], [0.175, null]), ...GPT_5 },
  { model: 'gpt-5.1', price: toRates([1.25, 10], [0.125, null]), ...GPT_5 },
  { model: 'gpt-5', price: toRates([1.25, 10], [0.125, null]), ...GPT_5 },
  { model: 'gpt-5-mini', price: toRates([0.25, 2], [0.025, null]), ...GPT_5 },
  { model: 'gpt-5-nano', price: toRates([0.05, 0.4], [0.005, null]), ...GPT_5 },
  { model: 'gpt-4.1', price: toRates([2, 8], [0.5, null]), ...GPT_4_1 },
  { model: 'gpt-4.1-mini', price: toRates([0.4, 1.6], [0.1, null]), ...GPT_4_1 },
  { model: 'gpt-4.1-nano', price: toRates([0.1, 0.4], [0.025, null]), ...GPT_4_1 },
  { model: 'gpt-4o-mini', price: toRates([0.15, 0.6], [0.075, null]), ...GPT_4O },
  // The family's oldest snapshot has a price of its own.
  { model: 'gpt-4o-2024-05-13', price: null, ...GPT_4O },
  { model: 'gpt-4o', price: toRates([2.5, 10], [1.25, null]), ...GPT_4O },
  {
    model: 'o4-mini',
    price: toRates([1.1, 4.4], [0.275, null]),
    contextTokens: 200_000,
    maxOutputTokens: 100_000,
  },
];

export const OPENAI_PRICES: PriceTable = {
  kind: 'openai',
  date: '2026-10-27',
  source: 'https://developers.openai.com/api/docs/pricing',
  rows: ROWS,
};
