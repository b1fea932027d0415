const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Longest character of UTF-8, in bytes. */
const LONGEST = 4;

/** The largest index at or below `end` that does not split a character of UTF-8 text. */
export function alignEnd(bytes: Uint8Array, end: number): number {
  let index = end;
  while (index > 0 && end - index < LONGEST && isContinuation(bytes[index])) index -= 1;
  return index;
}

/** The smallest index at or above `start` that does not split a character of UTF-8 text. */
export function alignStart(bytes: Uint8Array, start: number): number {
  let index = start;
  while (index < bytes.length && index - start < LONGEST && isContinuation(bytes[index])) index += 1;
  return index;
}
