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
    ['anthropic', 'claude-sonnet-4-5-20250929', 'claude-sonnet-4-5'],
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

  test('says the day and the page of a price', () => {
    expect(find('anthropic', 'claude-haiku-4-5')).toEqual({
      card: {
        model: 'claude-haiku-4-5',
        date: '2026-10-24',
        source: 'https://platform.claude.com/docs/en/about-claude/pricing',
      },
      price: { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 },
      maxOutputTokens: 64_000,
    });
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
  test('name each model once, with sane figures, a day and a page', () => {
    for (const { kind, date, source, rows } of PRICE_TABLES) {
      expect(PROVIDER_KINDS).toContain(kind);
      expect(date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(source).toMatch(/^https:/);
      const names = rows.flatMap(({ model, aliases }) => [model, ...(aliases ?? [])]);
      expect(new Set(names).size).toBe(names.length);
      const priced = rows.flatMap(({ price }) => (price === null ? [] : [price]));
      expect(priced.filter(({ input, output }) => input <= 0 || output < input)).toEqual([]);
      expect(priced.filter(({ input, cacheRead }) => cacheRead === null || cacheRead >= input)).toEqual([]);
    }
  });

  test('doctor says their age and warns above 90 days', () => {
    expect(listPriceAges(NOW)).toContainEqual({ kind: 'google', date: '2026-10-07', days: 53 });
    expect(checkPrices(NOW)).toMatchObject({ ok: true, whatToDo: null });
    const warned = checkPrices(Date.parse('2027-01-10T00:00:00Z'));
    expect(warned).toMatchObject({
      ok: true,
      detail: expect.stringContaining('google 2026-10-07 (95 days)'),
    });
    expect(warned.whatToDo).toMatch(/^Prices of google are older than 90 days/);
  });
});
