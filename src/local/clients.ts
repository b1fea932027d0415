import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { identifyProcess, isAlive, readIdentityFile } from './process-identity.ts';
import type { ProcessIdentity } from './process-identity.ts';

/**
 * Says that this process uses the stack, so that it does not stop by itself. One file a process in `.assay/clients`;
 * a killed process needs no farewell, for its identity is checked. Returns the function that ends it; so does the
 * process's end.
 */
export function registerClient(dataDir: string): () => void {
  const folder = join(dataDir, 'clients');
  const file = join(folder, String(process.pid));
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, JSON.stringify(identifyProcess(process.pid)));
  if (registered.size === 0) process.once('exit', leaveAll);
  registered.add(file);
  return () => {
    registered.delete(file);
    rmSync(file, { force: true });
    if (registered.size === 0) process.off('exit', leaveAll);
  };
}

const registered = new Set<string>();

function leaveAll(): void {
  for (const file of registered) rmSync(file, { force: true });
}

/** The running processes that use the stack, this one left out; files of ended ones are removed. */
export function listClients(dataDir: string): ProcessIdentity[] {
  const folder = join(dataDir, 'clients');
  const found: ProcessIdentity[] = [];
  for (const name of namesIn(folder)) {
    const identity = readIdentityFile(join(folder, name));
    if (!isAlive(identity)) rmSync(join(folder, name), { force: true });
    else if (identity && identity.pid !== process.pid) found.push(identity);
  }
  return found;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
