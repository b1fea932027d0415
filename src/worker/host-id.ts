import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** This machine's id for this data folder: made once, equal after every restart. `[0-9a-f]{12}`. */
export function readHostId(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, 'host-id');
  try {
    // `wx`: of two workers that start at once one writes, both read.
    writeFileSync(path, randomBytes(6).toString('hex'), { flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const id = readFileSync(path, 'utf8').trim();
  if (!/^[0-9a-f]{12}$/.test(id))
    throw new Error(`${path} holds no host id; delete it and start the worker again`);
  return id;
}
