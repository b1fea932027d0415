/**
 * 53-bit hash of a text, equal on every machine and in workflow code (cyrb53, public domain by bryc).
 * For ids and seeded draws; not for content addresses.
 */
export function hashText(text: string, seed = 0): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
}

/** A number in [0, 1) that depends on the text and the seed alone. */
export const drawFrom = (text: string, seed = 0): number => hashText(text, seed) / 2 ** 53;
