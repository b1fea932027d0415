import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StackOptions } from '../../src/local/stack.ts';

/** What a command hands to `ensureStack`, with the stand-in for the worker; no service of the user's own is named. */
export function stackOptions(dataDir: string, changes: Partial<StackOptions> = {}): StackOptions {
  return {
    dataDir,
    environment: plainEnvironment(),
    workerCommand: [process.execPath, fileURLToPath(new URL('programs/worker.ts', import.meta.url))],
    note: () => undefined,
    ...changes,
  };
}

/** This process's variables without those that name services. */
export function plainEnvironment(changes: Record<string, string> = {}): Record<string, string | undefined> {
  const plain = Object.entries(process.env).filter(
    ([name]) => name !== 'DATABASE_URL' && !name.startsWith('TEMPORAL_'),
  );
  return { ...Object.fromEntries(plain), TEMPORAL_CONFIG_FILE: '/nonexistent/temporal.toml', ...changes };
}

/** The data folder of a new project. */
export function newDataFolder(): string {
  const project = mkdtempSync(join(tmpdir(), 'assay-local-'));
  chmodSync(project, 0o755);
  return join(project, '.assay');
}
