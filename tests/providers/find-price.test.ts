import { describe, expect, test } from 'vitest';
import { findKnownModel, listPriceAges } from '../../src/providers/find-price.ts';
import { PRICE_TABLES } from '../../src/providers/price-table.ts';
import { PROVIDER_KINDS } from '../../src/providers/lookup.ts';
import { checkPrices } from '../../src/local/price-check.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const find = (kind: string, model: string, { params = {}, now = NOW } = {}) =>
  findKnownModel({ kind, model, params, now });

describe('findKnownModel', () => {
  test.each([
    ['openai', 'gpt-5-mini', 'gpt-5-mini'],
    ['openai', 'gpt-5-2025-08-07', 'gpt-5'],
    ['openai', 'gpt-5-mini-2025-08-07', 'gpt-5-mini'],
    ['anthropic', 'claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
    ['anthropic', 'claude-opus-5', 'claude-opus-5'],
    ['openai', 'gpt-5.6', 'gpt-5.6-sol'],
  ])('%s %s is the row %s', (kind, model, row) => {
    expect(find(kind, model)?.card.model).toBe(row);
  });

  test.each([
    ['openai', 'gpt-5-turbo'],
    ['openai', 'gpt-5-mini-preview'],
    ['openai', 'ft:gpt-4.1:me::x'],
    ['anthropic', 'claude-sonnet-4-5@20250929'],
    ['google', 'gemini-2.5-flash-image'],
    ['openai-compatible', 'gpt-5'],
    ['mock', 'oracle'],
  ])('C27 %s %s has no row: its price is not guessed', (kind, model) => {
    expect(find(kind, model)).toBeNull();
  });

  test("says the texts of a price, a day than which the first is no older, and whether it is the provider's own", () => {
    expect(find('anthropic', 'claude-haiku-4-5')).toEqual({
      card: {
        model: 'claude-haiku-4-5',
        date: '2026-10-07',
        source: 'https://platform.claude.com/docs/zh-CN/models/haiku-4-5/overview.md',
        also: [expect.stringMatching(/^https:\/\/github\.com\/anomalyco\/models\.dev\//)],
        vendor: true,
      },
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
      maxOutputTokens: 64_000,
    });
    expect(find('openai', 'gpt-5')?.card).toMatchObject({ date: '2025-11-13', vendor: false });
  });

  test('a price that has ended is unknown', () => {
    expect(find('google', 'gemini-3.8-flash')?.price).toMatchObject({ input: 0.75 });
    const later = Date.parse('2027-01-01T00:00:00Z');
    expect(find('google', 'gemini-3.8-flash', { now: later })).toMatchObject({
      price: null,
      maxOutputTokens: 65_536,
    });
  });

  test.each([
    { serviceTier: 'priority' },
    { serviceTier: 'flex' },
    { extraBody: { service_tier: 'priority' } },
    { extraBody: { speed: 'fast' } },
  ])('parameters that change what a call costs leave the price unknown: %j', (params) => {
    expect(find('openai', 'gpt-5', { params })?.price).toBeNull();
  });
});

describe('the price tables', () => {
  test('name each model once, with sane figures', () => {
    for (const { kind, rows } of PRICE_TABLES) {
      expect(PROVIDER_KINDS).toContain(kind);
      const names = rows.flatMap(({ model, aliases }) => [model, ...(aliases ?? [])]);
      expect(new Set(names).size).toBe(names.length);
      const priced = rows.flatMap(({ price }) => (price === null ? [] : [price]));
      expect(priced.filter(({ input, output }) => input <= 0 || output < input)).toEqual([]);
      expect(priced.filter(({ input, cacheRead }) => cacheRead !== null && cacheRead >= input)).toEqual([]);
    }
  });

  test('name for each row the texts it comes from, none newer than the day of looking', () => {
    for (const { read, rows } of PRICE_TABLES) {
      for (const { source, date, also } of rows) {
        expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
        expect(date <= read).toBe(true);
        expect([source, ...(also ?? [])].filter((text) => !text.startsWith('https://'))).toEqual([]);
      }
    }
  });

  test('give every model of Anthropic a limit, because its API demands one', () => {
    const rows = PRICE_TABLES.find(({ kind }) => kind === 'anthropic')?.rows ?? [];
    expect(rows.filter(({ maxOutputTokens }) => maxOutputTokens === null)).toEqual([]);
  });

  test('doctor says when they were looked up and what they rest on, and warns after 90 days', () => {
    const google = listPriceAges(NOW).find(({ kind }) => kind === 'google');
    expect(google).toMatchObject({ prices: 10, thirdParty: 10, oldest: '2025-06-05', days: 0 });
    const later = listPriceAges(Date.parse('2027-01-01T00:00:00Z')).find(({ kind }) => kind === 'google');
    expect(later).toMatchObject({ prices: 9, days: 33 });
    expect(checkPrices(NOW)).toMatchObject({ ok: true, whatToDo: null });
    const warned = checkPrices(Date.parse('2027-03-01T00:00:00Z'));
    expect(warned).toMatchObject({
      ok: true,
      detail: expect.stringContaining(
        'google: 9 looked up on 2026-11-29 (92 days ago), 9 in texts of third parties, oldest text 2025-06-05',
      ),
    });
    expect(warned.whatToDo).toMatch(
      /^Prices of openai, anthropic, google were looked up more than 90 days ago/,
    );
  });
});
