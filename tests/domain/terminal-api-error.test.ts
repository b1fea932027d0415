import { describe, expect, test } from 'vitest';
import { findTerminalApiError } from '../../src/domain/terminal-api-error.ts';

const REFUSALS: readonly (readonly [string, string, string])[] = [
  ['API Error: 402 {"error":{"message":"top up"}}', 'billing', 'http_402'],
  ['request failed {"status": 402, "title": "no"}', 'billing', 'http_402'],
  ["{'code': 402}", 'billing', 'http_402'],
  ['HTTP 402', 'billing', 'http_402'],
  ['stream error: Payment Required', 'billing', 'payment_required'],
  ['{"detail":"payment_required"}', 'billing', 'payment_required'],
  ['Error: balance exhausted', 'billing', 'balance_exhausted'],
  ['Your credit balance is too low to access the API.', 'billing', 'balance_exhausted'],
  ['{"error":{"message":"Insufficient Balance"}}', 'billing', 'insufficient_funds'],
  ['error: insufficient credits', 'billing', 'insufficient_funds'],
  ['{"error":{"code":"insufficient_quota"}}', 'billing', 'insufficient_funds'],
  ['Error: You exceeded your current quota, please check your plan', 'billing', 'quota_exhausted'],
  ['Claude AI usage limit reached|1767225600', 'billing', 'quota_exhausted'],
  ['Error: OAuth token has expired. Please log in again.', 'credential', 'expired'],
  ['Your session has expired', 'credential', 'expired'],
  ['Error: expired API key', 'credential', 'expired'],
  ['Error: Incorrect API key provided: sk-1', 'credential', 'invalid_api_key'],
  ['{"error":{"code":"invalid_api_key"}}', 'credential', 'invalid_api_key'],
  ['Invalid API key · Please run /login', 'credential', 'invalid_api_key'],
  ['unexpected status 401 Unauthorized: no', 'credential', 'unauthorized'],
  ['{"type":"error","error":{"type":"authentication_error"}}', 'credential', 'unauthorized'],
];

describe('CB-05 texts that say that the API refuses for good', () => {
  test.each(REFUSALS)('%s', (line, name, code) => {
    const output = `working on it\n${line}\nexiting\n`;
    expect(findTerminalApiError(output)).toMatchObject({ class: name, code, line });
  });
});

describe('CB-05 texts that say nothing of the kind', () => {
  test.each([
    '402 lines changed, 3 files',
    'error: 402 tests failed',
    'I have updated the insufficient credits message in billing.ts',
    'The test for a token that has not yet expired passes now: 12 assertions, and 402 of them are new',
    'TypeError: Cannot read properties of undefined',
    'rate limit exceeded, try again in 20s',
    '',
  ])('%s', (line) => {
    expect(findTerminalApiError(`${line}\n`)).toBeNull();
  });

  test('a refusal before the last 2,000 characters', () => {
    expect(findTerminalApiError(`Error: insufficient credits\n${'x '.repeat(1_000)}`)).toBeNull();
  });
});

test('the end of a usage limit is read where it is printed', () => {
  expect(findTerminalApiError('Claude AI usage limit reached|1767225600')?.resetAtMs).toBe(1_767_225_600_000);
  expect(findTerminalApiError('Error: insufficient credits')?.resetAtMs).toBeNull();
});
