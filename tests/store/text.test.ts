import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeText, unescapeText } from '../../src/store/text.ts';

test('U+0000, lone surrogates and the mark itself are escaped; everything else stays', () => {
  expect(escapeText('a\0b')).toBe('a\u241B0000b');
  expect(escapeText('\uD83D')).toBe('\u241BD83D');
  expect(escapeText('\u241B')).toBe('\u241B241B');
  expect(escapeText('plain \\ text, 😀')).toBe('plain \\ text, 😀');
});

test('every text comes back as it was, and the stored form is well formed without U+0000', () => {
  const units = fc.oneof(
    fc.constantFrom('\0', '\uD800', '\uDC00', '\u241B', '0', '241B'),
    fc.string({ unit: 'binary' }),
  );
  fc.assert(
    fc.property(fc.array(units), (parts) => {
      const text = parts.join('');
      const stored = escapeText(text);
      expect(stored.isWellFormed() && !stored.includes('\0')).toBe(true);
      expect(unescapeText(stored)).toBe(text);
    }),
  );
});
