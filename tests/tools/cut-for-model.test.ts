import { expect, test } from 'vitest';
import { cutForModel } from '../../src/tools/cut-for-model.ts';

test('a text that fits is left as it is', () => {
  const text = 'é'.repeat(8 * 1024);
  expect(cutForModel(text)).toBe(text);
});

test('a long text keeps both ends and says how much is missing', () => {
  const cut = cutForModel(`begin${'x'.repeat(20_000)}end`);
  expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(16 * 1024);
  expect(cut).toMatch(/^beginx+\n\[\.\.\. \d+ of 20008 bytes cut \.\.\.\]\nx+end$/);
  const missing = Number(/(\d+) of/.exec(cut)?.[1]);
  expect(cut.replace(/\n\[.*\]\n/, '').length + missing).toBe(20_008);
});

test('no character is split at any limit', () => {
  const text = 'aé€😀'.repeat(100);
  for (let limit = 64; limit < 200; limit += 1) {
    const cut = cutForModel(text, limit);
    expect(cut).not.toContain('\uFFFD');
    expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(limit);
  }
});
