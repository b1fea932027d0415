import type { PriceRow, PriceTable, PriceText } from './price-table.ts';
import { modelsDev } from './price-texts.ts';
import { toRates } from './rates.ts';

const HOST = 'platform.claude.com';

/** A page of Anthropic's documentation; what follows the `?` of its address is left out. */
const page = (path: string, date: string): PriceText => ({ source: `https://${HOST}/docs/${path}`, date });
const overview = (language: string, model: string): string =>
  `https://${HOST}/docs/${language}/models/${model}/overview`;

/** The page of all prices, when Fable 5.1 was new and Opus 5.5 not yet there. */
const PRICES = page('en/about-claude/pricing', '2026-09-01');
/** Pages that compare their model with the others: when Haiku 5.5 was new, and when Fable 5.2 was. */
const LINEUP = page('about-claude/models/whats-new-opus-5', '2026-10-07');
const NEWER_LINEUP = page('id/models/sonnet-5/overview.md', '2026-11-09');
/** Notes of a price list that was compared with Anthropic's page on 2026-10-24. */
const CLAUDIT = 'https://github.com/kurofune/claudit/releases/tag/v1.9.2';

const listed = (commit: string, model: string): string =>
  modelsDev(commit, `providers/anthropic/models/${model}.toml`);

/** Writes are those that stay five minutes: Assay asks for no others. */
const FIFTH: readonly PriceRow[] = [
  {
    model: 'claude-fable-5-2',
    price: toRates([8, 40], [0.2, 10]),
    ...NEWER_LINEUP,
    also: ['https://github.com/archid21/rightsize/releases/tag/v0.10.2'],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-fable-5-1',
    price: toRates([10, 50], [0.25, 12.5]),
    ...LINEUP,
    also: [PRICES.source],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-fable-5',
    price: toRates([10, 50], [1, 12.5]),
    ...PRICES,
    also: [`${overview('en', 'fable-5')}.md`],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-opus-5-5',
    price: toRates([4, 20], [0.2, 5]),
    ...NEWER_LINEUP,
    also: [overview('zh-CN', 'opus-5-5')],
    maxOutputTokens: 128_000,
  },
  { model: 'claude-opus-5', price: toRates([5, 25], [0.5, 6.25]), ...LINEUP, maxOutputTokens: 128_000 },
  {
    // Reads cost half since 2026-10-07: Anthropic's page of the model is older and still says 0.20.
    model: 'claude-sonnet-5-5',
    price: toRates([2, 10], [0.1, 2.5]),
    ...LINEUP,
    also: [CLAUDIT, overview('zh-CN', 'sonnet-5-5')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-sonnet-5',
    price: toRates([2, 10], [0.2, 2.5]),
    ...NEWER_LINEUP,
    also: [overview('zh-CN', 'sonnet-5')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-haiku-5-5',
    price: {
      ...toRates([0.1, 0.5], [0.01, 0.125]),
      long: { aboveInputTokens: 100_000, rates: toRates([0.5, 2.5], [0.05, 0.625]) },
    },
    ...page('zh-CN/models/haiku-5-5/overview', '2026-10-07'),
    also: [CLAUDIT],
    maxOutputTokens: 128_000,
  },
];

const FOURTH: readonly PriceRow[] = [
  {
    model: 'claude-opus-4-8',
    price: toRates([5, 25], [0.5, 6.25]),
    ...PRICES,
    also: [listed('7ea1d4e15ceaab6b5ac0f4a4a94c3b44387b9e91', 'claude-opus-4-8')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-opus-4-7',
    price: toRates([5, 25], [0.5, 6.25]),
    ...PRICES,
    also: [listed('147cb3138a7386e79049046cdd80eacd3974c1dd', 'claude-opus-4-7')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-opus-4-6',
    price: toRates([5, 25], [0.5, 6.25]),
    ...PRICES,
    also: [listed('7fbe22429db68bfe4b3219fd7d8604105a7419d1', 'claude-opus-4-6')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-opus-4-5',
    price: toRates([5, 25], [0.5, 6.25]),
    ...PRICES,
    also: [listed('7fbe22429db68bfe4b3219fd7d8604105a7419d1', 'claude-opus-4-5')],
    maxOutputTokens: 64_000,
  },
  {
    model: 'claude-sonnet-4-6',
    price: toRates([3, 15], [0.3, 3.75]),
    ...page('zh-CN/models/sonnet-4-6/overview.md', '2026-09-28'),
    also: [listed('7fbe22429db68bfe4b3219fd7d8604105a7419d1', 'claude-sonnet-4-6')],
    maxOutputTokens: 128_000,
  },
  {
    model: 'claude-haiku-4-5',
    price: toRates([1, 5], [0.1, 1.25]),
    ...page('zh-CN/models/haiku-4-5/overview.md', '2026-10-07'),
    also: [listed('482fb019a4847290b37990da929dc707d9243dca', 'claude-haiku-4-5')],
    maxOutputTokens: 64_000,
  },
];

export const ANTHROPIC_PRICES: PriceTable = {
  kind: 'anthropic',
  read: '2026-11-29',
  hosts: [HOST],
  rows: [...FIFTH, ...FOURTH],
};
