import type { PriceRow, PriceTable, PriceText } from './price-table.ts';
import { llmPrices, modelsDev, TOKEN_METER } from './price-texts.ts';
import { toRates } from './rates.ts';

/** A transcript of Google's page of prices, with the day on which it was read. */
const PAGE_COPY: PriceText = {
  source:
    'https://github.com/api-evangelist/deepmind/blob/47a9772bdb46163b5e5560285bbc88bb11b86073/plans/deepmind-plans-pricing.yml',
  date: '2026-10-07',
};
const LLM_PRICES = llmPrices('014a62da459805dcea25aaa644cf7a90ec9e4000', 'google');
const MODELS = 'providers/google/models';

/** The paid tier for text; thoughts cost what output costs. No text of Google's own was found. */
const ROWS: readonly PriceRow[] = [
  {
    model: 'gemini-4-neon',
    price: toRates([3, 15], [0.15, null]),
    source: 'https://apidog.com/blog/gemini-4-neon-api/',
    date: '2026-11-19',
    also: [TOKEN_METER],
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-4-hydrogen',
    price: toRates([1.5, 7.5], [0.075, null]),
    source: 'https://docs.laozhang.ai/announcements/gemini-4-hydrogen-2026-11.md',
    date: '2026-11-14',
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-3.8-flash',
    price: toRates([0.75, 3.75], [0.075, null]),
    ...PAGE_COPY,
    also: [
      modelsDev('91a19838362bf054937e0e5534d8871762f354f8', `${MODELS}/gemini-3.8-flash.toml`),
      modelsDev('91a19838362bf054937e0e5534d8871762f354f8', 'models/google/gemini-3.8-flash.toml'),
    ],
    // Doubles on 2027-01-01, as Google has announced.
    until: '2026-12-31',
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-3.6-flash',
    price: toRates([1.5, 7.5], [0.15, null]),
    source: LLM_PRICES,
    date: '2026-05-19',
    maxOutputTokens: null,
  },
  {
    model: 'gemini-3.5-flash',
    price: toRates([1.5, 9], [0.15, null]),
    ...PAGE_COPY,
    also: [modelsDev('96e7a00f4333b7b909a57a0f3bf63dc8f02f1a48', `${MODELS}/gemini-3.5-flash.toml`)],
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-3.5-flash-lite',
    price: toRates([0.3, 2.5], [0.03, null]),
    ...PAGE_COPY,
    also: [LLM_PRICES],
    maxOutputTokens: null,
  },
  {
    model: 'gemini-3.1-pro-preview',
    price: {
      ...toRates([2, 12], [0.2, null]),
      long: { aboveInputTokens: 200_000, rates: toRates([4, 18], [0.4, null]) },
    },
    ...PAGE_COPY,
    also: [modelsDev('2593e131a1e02e1c69412c50b233986e2ab433e4', `${MODELS}/gemini-3.1-pro-preview.toml`)],
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-2.5-pro',
    price: {
      ...toRates([1.25, 10], [0.125, null]),
      long: { aboveInputTokens: 200_000, rates: toRates([2.5, 15], [0.25, null]) },
    },
    source: modelsDev('0760ceffd3e02115e6480d9a0be7992c330c2f35', `${MODELS}/gemini-2.5-pro.toml`),
    date: '2025-06-05',
    also: [modelsDev('36dbbd62f9f602f86ac654d45ab93b6d8a4f38cc', 'models/google/gemini-2.5-pro.toml')],
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-2.5-flash',
    price: toRates([0.3, 2.5], [0.03, null]),
    source: modelsDev('0760ceffd3e02115e6480d9a0be7992c330c2f35', `${MODELS}/gemini-2.5-flash.toml`),
    date: '2025-06-05',
    also: [modelsDev('36dbbd62f9f602f86ac654d45ab93b6d8a4f38cc', 'models/google/gemini-2.5-flash.toml')],
    maxOutputTokens: 65_536,
  },
  {
    model: 'gemini-2.5-flash-lite',
    price: toRates([0.1, 0.4], [0.01, null]),
    source: modelsDev('19565ce21d886b2ec61c7d0b984ce87ad1b140fb', `${MODELS}/gemini-2.5-flash-lite.toml`),
    date: '2025-06-17',
    maxOutputTokens: 65_536,
  },
];

export const GOOGLE_PRICES: PriceTable = {
  kind: 'google',
  read: '2026-11-29',
  hosts: ['ai.google.dev', 'docs.cloud.google.com'],
  rows: ROWS,
};
