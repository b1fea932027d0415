import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor, redactJson, redactPatterns } from '../../src/domain/redact.ts';

const secret = 'hunter2"sé\n+key/9';
const { redact } = createRedactor([secret, 'short', 'abcdef', 'abcdefgh-longer']);

test('AC-E11 a known value is found inside free text, in JSON, percent encoded and in base64', () => {
  expect(redact(`the key is ${secret}!`)).toBe('the key is [redacted]!');
  expect(redact(JSON.stringify({ text: `x${secret}` }))).toBe('{"text":"x[redacted]"}');
  expect(redact(`https://x.test/?k=${encodeURIComponent(secret)}`)).toBe('https://x.test/?k=[redacted]');
});

test('a known value is found in JSON inside JSON, and in every text of a JSON value', () => {
  const call = JSON.stringify({ arguments: JSON.stringify({ key: secret }) });
  expect(redact(call)).toBe('{"arguments":"{\\"key\\":\\"[redacted]\\"}"}');
  const value = { [`x ${secret}`]: [1, null, { a: JSON.stringify(secret) }], answer_key: secret };
  expect(redactJson(value, redact)).toEqual({
    'x [redacted]': [1, null, { a: '"[redacted]"' }],
    answer_key: '[redacted]',
  });
});

test('the base64 of a known value is found at every offset', () => {
  for (const before of ['', 'u', 'us', 'user:']) {
    for (const encoding of ['base64', 'base64url'] as const) {
      const encoded = Buffer.from(`${before}${secret} and more`).toString(encoding);
      expect(redact(encoded)).toContain('[redacted]');
    }
  }
});

test('the longest value is taken first, and values under six characters are ignored', () => {
  expect(redact('abcdefgh-longer abcdef short')).toBe('[redacted] [redacted] short');
  expect(createRedactor(['tiny']).redact('tiny')).toBe('tiny');
});

test('redacting again changes nothing', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.constant(secret), fc.string())), (parts) => {
      const once = redact(parts.join(''));
      expect(redact(once)).toBe(once);
      expect(once).not.toContain(secret);
    }),
  );
});

test.each([
  ['Authorization: Bearer abcdefghij0123456789', 'Authorization: Bearer [redacted]'],
  [`key sk-${'proj-a1'.repeat(4)} refused`, 'key [redacted] refused'],
  [`AKIA${'A1B2'.repeat(4)}`, '[redacted]'],
  ['postgres://ada:pass:word@db.test/assay', 'postgres://ada:[redacted]@db.test/assay'],
  [`eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl0`, '[redacted]'],
  [`-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----`, '[redacted]'],
])('a key is known by its shape: %s', (text, expected) => {
  expect(redactPatterns(text)).toBe(expected);
});

test.each([
  '{"answer_key":"B","api_key_count":3,"token":"end-of-text"}',
  'The bearer of news; sk-learn-is-a-nice-library; task-1234567890123456789',
  'http://127.0.0.1:8080/v1 at 12:30, mail me@example.test',
])('AC-E11 innocent text stays: %s', (text) => {
  expect(redactPatterns(text)).toBe(text);
});
