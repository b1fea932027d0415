import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version of this Assay, from its package file. */
export function assayVersion(): string {
  // One level up from the package's `src` or `dist`.
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
