import type { Price, Rates } from '../domain/usage.ts';
import type { PriceRow, PriceTable, PriceText } from './price-table.ts';
import { llmPrices, modelsDev, TOKEN_METER, vercel } from './price-texts.ts';
import { toRates } from './rates.ts';

const HOST = 'developers.openai.com';

/** A page of OpenAI's documentation; what follows the `?` of its address is left out. */
const page = (path: string, date: string): PriceText => ({ source: `https://${HOST}/${path}`, date });

/** A copy of OpenAI's page of prices, with the day on which it was read. */
const PAGE_COPY: PriceText = {
  source:
    'https://github.com/anuran-roy/unified-llm-pricing/blob/0f26534636c734808098a8f40cd4de7f7573abee/data/pricing.json',
  date: '2026-09-13',
};
const OLDER_PAGE_COPY: PriceText = {
  source:
    'https://github.com/api-evangelist/openai/blob/0047de3a4983ffb66eabe0a20acb12672cba2392/plans/openai-plans-pricing.yml',
  date: '2026-05-04',
};

/** A price list that says of each model when it was compared with OpenAI's page. */
const checked = (date: string): PriceText => ({
  source:
    'https://github.com/pydantic/genai-prices/blob/01d6df8c6f465a479f1bb6ef1d17758e0bf1b7f7/prices/providers/openai.yml',
  date,
});

const LONG_TOKENS = 272_000;
const twice = (rate: number | null): number | null => (rate === null ? null : rate * 2);

/** Above 272,000 tokens of input the whole call costs twice for input and cache, half as much again for output. */
const withLong = (rates: Rates): Price => ({
  ...rates,
  long: {
    aboveInputTokens: LONG_TOKENS,
    rates: toRates([rates.input * 2, rates.output * 1.5], [twice(rates.cacheRead), twice(rates.cacheWrite)]),
  },
});

/** The same where the text says nothing of the cache. */
const withLongUncached = (rates: Rates): Price => ({
  ...rates,
  long: {
    aboveInputTokens: LONG_TOKENS,
    rates: toRates([rates.input * 2, rates.output * 1.5], [null, null]),
  },
});

const GPT_6: readonly PriceRow[] = [
  {
    model: 'gpt-6.2-astra',
    price: withLong(toRates([8, 40], [0.4, 10])),
    ...page('api/docs/models', '2026-11-17'),
    also: [TOKEN_METER],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-6.2-sol',
    price: withLong(toRates([2, 10], [0.1, 2.5])),
    ...page('api/docs/models/gpt-6.2-sol', '2026-11-17'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-6.1-sol',
    price: withLong(toRates([2, 10], [0.1, 2.5])),
    ...page('ja-JP/api/docs/models/gpt-6.1-sol', '2026-09-29'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-6.1-terra',
    price: withLong(toRates([1, 5], [0.05, 1.25])),
    ...page('api/docs/models', '2026-11-17'),
    also: ['https://apidog.com/jp/blog/gpt-6-1-terra-pricing/'],
    maxOutputTokens: null,
  },
  {
    model: 'gpt-6-astra',
    price: withLong(toRates([10, 50], [1, 12.5])),
    ...PAGE_COPY,
    also: [vercel('gpt-6-astra')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-6-sol',
    price: withLong(toRates([2, 10], [0.2, 2.5])),
    ...page('docs/models/gpt-6-sol', '2026-09-22'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-6-luna',
    price: withLong(toRates([0.1, 0.5], [0.01, 0.125])),
    ...page('ja-JP/api/docs/models/gpt-6-luna', '2026-09-22'),
    maxOutputTokens: 128_000,
  },
];

const GPT_5: readonly PriceRow[] = [
  {
    model: 'gpt-5.6-sol',
    aliases: ['gpt-5.6'],
    price: withLongUncached(toRates([4, 20], [0.4, 5])),
    ...page('ja-JP/api/docs/models/gpt-5.6-sol', '2026-08-21'),
    // The page promises this price until then.
    until: '2026-11-21',
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.6-terra',
    price: withLongUncached(toRates([2, 12], [0.2, 2.5])),
    ...page('ko-KR/api/docs/models/gpt-5.6-terra', '2026-08-21'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.6-luna',
    price: withLongUncached(toRates([0.2, 1.2], [0.02, 0.25])),
    ...page('api/docs/models/gpt-5.6-luna', '2026-07-30'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.5',
    price: withLong(toRates([5, 30], [0.5, null])),
    ...OLDER_PAGE_COPY,
    also: [modelsDev('2593e131a1e02e1c69412c50b233986e2ab433e4', 'providers/openai/models/gpt-5.5.toml')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.4',
    price: withLong(toRates([2.5, 15], [0.25, null])),
    ...OLDER_PAGE_COPY,
    also: [
      `https://${HOST}/ko-KR/api/docs/models/gpt-5.4-pro`,
      llmPrices('0838d1aca5cc5cb2b5f61cc551adb09e517a0da7', 'openai'),
      modelsDev('137b27cbedeeb0f394f8bb9373cd37e2fc2b247b', 'providers/openai/models/gpt-5.4.toml'),
    ],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.4-mini',
    price: toRates([0.75, 4.5], [0.075, null]),
    ...OLDER_PAGE_COPY,
    also: [vercel('openai/gpt-5.4-mini')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.4-nano',
    price: toRates([0.2, 1.25], [0.02, null]),
    ...page('ja-JP/api/docs/models/gpt-5.4-nano', '2026-03-17'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.2',
    price: toRates([1.75, 14], [0.175, null]),
    source: modelsDev('ecee1e6258445b5bc7b6159247fba74257b7f28e', 'providers/openai/models/gpt-5.2.toml'),
    date: '2025-12-11',
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5.1',
    price: toRates([1.25, 10], [0.125, null]),
    source: modelsDev('0760ceffd3e02115e6480d9a0be7992c330c2f35', 'providers/openai/models/gpt-5.1.toml'),
    date: '2025-11-13',
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5',
    price: toRates([1.25, 10], [0.125, null]),
    ...checked('2025-11-13'),
    also: [modelsDev('36dbbd62f9f602f86ac654d45ab93b6d8a4f38cc', 'models/openai/gpt-5.toml')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5-mini',
    price: toRates([0.25, 2], [0.025, null]),
    ...page('ko-KR/api/docs/models/gpt-5-mini', '2026-07-09'),
    maxOutputTokens: 128_000,
  },
  {
    model: 'gpt-5-nano',
    price: toRates([0.05, 0.4], [0.005, null]),
    ...page('api/docs/models/gpt-5-nano', '2026-09-22'),
    maxOutputTokens: 128_000,
  },
];

const OLDER: readonly PriceRow[] = [
  {
    model: 'gpt-4.1',
    price: toRates([2, 8], [0.5, null]),
    ...checked('2025-07-04'),
    also: [vercel('gpt-4.1-fast')],
    maxOutputTokens: 32_768,
  },
  {
    model: 'gpt-4.1-mini',
    price: toRates([0.4, 1.6], [0.1, null]),
    ...checked('2025-07-04'),
    also: [vercel('gpt-4.1-mini-fast')],
    maxOutputTokens: 32_768,
  },
  {
    model: 'gpt-4o-mini',
    price: toRates([0.15, 0.6], [0.075, null]),
    ...checked('2025-07-04'),
    also: [vercel('gpt-4o-mini-fast')],
    maxOutputTokens: 16_384,
  },
  {
    // Lists disagree on the family's oldest snapshot.
    model: 'gpt-4o-2024-05-13',
    price: null,
    source: modelsDev(
      '0f899d76d45b33f3d10b189f4b972e7df6c2b6b2',
      'providers/openai/models/gpt-4o-2024-05-13.toml',
    ),
    date: '2024-05-13',
    maxOutputTokens: 4_096,
  },
  {
    model: 'gpt-4o',
    price: toRates([2.5, 10], [1.25, null]),
    ...checked('2025-07-04'),
    also: [vercel('gpt-4o-fast')],
    maxOutputTokens: 16_384,
  },
  {
    model: 'o4-mini',
    price: toRates([1.1, 4.4], [0.275, null]),
    ...checked('2025-07-04'),
    also: [vercel('o4-mini')],
    maxOutputTokens: 100_000,
  },
];

export const OPENAI_PRICES: PriceTable = {
  kind: 'openai',
  read: '2026-11-29',
  hosts: [HOST],
  rows: [...GPT_6, ...GPT_5, ...OLDER],
};
