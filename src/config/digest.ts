import { createHash } from 'node:crypto';

/** SHA-256 in lower-case hexadecimal. */
export const toDigest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Keeps the content under its digest and returns the digest. */
export function keepFile(files: Map<string, Uint8Array>, bytes: Uint8Array): string {
  const digest = toDigest(bytes);
  files.set(digest, bytes);
  return digest;
}
