import { describe, expect, test } from 'vitest';
import { readErrorDetails } from '../../src/domain/error-details.ts';
import { findRetryAfter } from '../../src/domain/retry-after.ts';

const NOW = Date.parse('2026-11-29T12:00:00Z');
const find = (part: Partial<Parameters<typeof findRetryAfter>[0]>) =>
  findRetryAfter({ headers: {}, texts: [], retryAfterMs: null, ...part }, NOW);

describe('findRetryAfter', () => {
  test.each([
    ['Please try again in 6ms.', 6],
    ['Please try again in 1.2s. Visit', 1_200],
    ['try again in 1m12.5s', 72_500],
    ['Please try again in 1h20m0s', 4_800_000],
    ['Please retry in 20.04466179s.', 20_045],
    ['You will regain access on 2026-12-01 at 00:00 UTC.', 36 * 3_600_000],
    ['You will regain access on 2026-11-01 at 00:00 UTC.', 0],
    ['Please try again in a moment', null],
    ['Please try again in 500 minutes', null],
    ['retry in 99999999d', null],
    ['', null],
  ])('the words %j ask for %s ms', (text, wait) => {
    expect(find({ texts: [text] })).toBe(wait);
  });

  test('headers come before details, details before words, words before reset headers', () => {
    const all = {
      headers: {
        'retry-after': '2',
        'x-ratelimit-remaining-requests': '0',
        'x-ratelimit-reset-requests': '9s',
      },
      retryAfterMs: 3_000,
      texts: ['try again in 4s'],
    };
    expect(find(all)).toBe(2_000);
    const { 'retry-after': _first, ...headers } = all.headers;
    expect(find({ ...all, headers })).toBe(3_000);
    expect(find({ ...all, headers, retryAfterMs: null })).toBe(4_000);
    expect(find({ headers })).toBe(9_000);
  });

  test('a reset counts only where nothing is left, and the longest of them', () => {
    const headers = {
      'x-ratelimit-remaining-requests': '12',
      'x-ratelimit-reset-requests': '8h',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '6m0s',
      'anthropic-ratelimit-input-tokens-remaining': '0',
      'anthropic-ratelimit-input-tokens-reset': '2026-11-29T12:10:00Z',
      'anthropic-ratelimit-output-tokens-remaining': '0',
      'anthropic-ratelimit-output-tokens-reset': 'soon',
    };
    expect(find({ headers })).toBe(600_000);
    expect(find({ headers: { 'x-ratelimit-remaining-tokens': '0' } })).toBeNull();
  });
});

describe('readErrorDetails', () => {
  const quota = (...ids: string[]) => ({ violations: ids.map((quotaId) => ({ quotaId })) });

  test.each([
    [[quota('GenerateRequestsPerMinutePerProjectPerModel-FreeTier')], ['minute_quota_exceeded']],
    [[quota('GenerateRequestsPerDayPerProjectPerModel')], ['daily_quota_exceeded']],
    [[quota('TokensPerModelPerMinute', 'RequestsPerDay')], ['daily_quota_exceeded']],
    [[{ reason: 'API_KEY_INVALID' }], ['api_key_invalid']],
    [[null, 'text', { violations: 7 }], []],
    ['no list', []],
    [undefined, []],
  ])('%j says %j', (details, codes) => {
    expect(readErrorDetails(details).codes).toEqual(codes);
  });

  test.each([
    ['34.074824224s', 34_075],
    ['0s', 0],
    ['34', null],
    ['-3s', null],
    [34, null],
  ])('a retryDelay of %j is %s ms', (retryDelay, wait) => {
    expect(readErrorDetails([{ retryDelay }]).retryAfterMs).toBe(wait);
  });
});
