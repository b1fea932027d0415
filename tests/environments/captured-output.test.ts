import { expect, test } from 'vitest';
import { CapturedOutput } from '../../src/environments/captured-output.ts';

function capture(text: string, sizes: { keepBytes: number; chunkBytes: number }): CapturedOutput {
  const output = new CapturedOutput(sizes.keepBytes);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += sizes.chunkBytes) {
    output.add(bytes.subarray(at, at + sizes.chunkBytes));
  }
  return output;
}

test('output within the limits is kept whole, whatever its chunks split', () => {
  const text = 'aé€😀'.repeat(10);
  for (const chunkBytes of [1, 3, 7, 1000]) {
    expect(capture(text, { keepBytes: 50, chunkBytes }).toText()).toBe(text);
  }
});

test('output above the limits loses its middle and splits no character', () => {
  const text = 'aé€😀'.repeat(100);
  for (const chunkBytes of [1, 3, 64, 5000]) {
    for (let keepBytes = 8; keepBytes < 30; keepBytes += 1) {
      const output = capture(text, { keepBytes, chunkBytes });
      const shown = output.toText();
      const missing = Number(/\n\[\.\.\. (\d+) bytes cut \.\.\.\]\n/.exec(shown)?.[1]);
      expect(output.totalBytes).toBe(1000);
      expect(shown).not.toContain('\uFFFD');
      expect(Buffer.byteLength(shown.replace(/\n\[.*\]\n/, '')) + missing).toBe(1000);
    }
  }
});
