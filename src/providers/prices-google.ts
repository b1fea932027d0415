import type { PriceRow, PriceTable } from './price-table.ts';
import { toRates } from './rates.ts';

const LIMITS = { contextTokens: 1_048_576, maxOutputTokens: 65_536 };

/** The paid tier for text; thoughts cost what output costs. */
const ROWS: readonly PriceRow[] = [
  { model: 'gemini-4-neon', price: toRates([3, 15], [0.15, null]), ...LIMITS },
  { model: 'gemini-4-hydrogen', price: toRates([1.5, 7.5], [0.075, null]), ...LIMITS },
  {
    model: 'gemini-3.8-flash',
    price: toRates([0.75, 3.75], [0.075, null]),
    // Doubles on 2027-01-01, as the page announces.
    until: '2026-12-31',
    ...LIMITS,
  },
  { model: 'gemini-3.6-flash', price: toRates([1.5, 7.5], [0.15, null]), ...LIMITS },
  { model: 'gemini-3.5-flash', price: toRates([1.5, 9], [0.15, null]), ...LIMITS },
  { model: 'gemini-3.5-flash-lite', price: toRates([0.3, 2.5], [0.03, null]), ...LIMITS },
  // Its cache rates are not known here.
  { model: 'gemini-3.1-pro-preview', price: null, ...LIMITS },
  {
    model: 'gemini-2.5-pro',
    price: {
      ...toRates([1.25, 10], [0.125, null]),
      long: { aboveInputTokens: 200_000, rates: toRates([2.5, 15], [0.25, null]) },
    },
    ...LIMITS,
  },
  { model: 'gemini-2.5-flash', price: toRates([0.3, 2.5], [0.03, null]), ...LIMITS },
  { model: 'gemini-2.5-flash-lite', price: toRates([0.1, 0.4], [0.01, null]), ...LIMITS },
];

export const GOOGLE_PRICES: PriceTable = {
  kind: 'google',
  date: '2026-10-07',
  source: 'https://ai.google.dev/gemini-api/docs/pricing',
  rows: ROWS,
};
