import { expect, test } from 'vitest';
import { BlobCache } from '../../src/activities/blob-cache.ts';

test('a small value that is remembered keeps no more memory than its own', async () => {
  const cache = new BlobCache({ query: () => Promise.reject(new Error('it is remembered')) });
  const block = Buffer.from('a'.repeat(8_192));
  cache.remember('digest', block.subarray(10, 14));
  const kept = await cache.load('digest');
  expect(Buffer.from(kept).toString()).toBe('aaaa');
  expect(kept.buffer.byteLength).toBe(4);
});
