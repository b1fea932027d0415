import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { env } from 'node:process';

/** What the process's environment says. Temporal's own variables are read by Temporal's own package. */
export type Settings = {
  /** `DATABASE_URL`; null = the embedded Postgres. */
  readonly databaseUrl: string | null;
  /** Absolute path of the folder for local data: `ASSAY_DIR`, else `.assay` in the current directory. */
  readonly dataDir: string;
  /** Absolute path of the folder for downloads: `XDG_CACHE_HOME`/assay, else `~/.cache/assay`. */
  readonly cacheDir: string;
  /** `ASSAY_WORKER`; `elsewhere` = commands start no worker of their own. */
  readonly worker: string | null;
  /** `NO_COLOR` is set (https://no-color.org) or the terminal is `dumb`. */
  readonly noColor: boolean;
  /** The terminal is `dumb`: it moves no cursor. */
  readonly dumbTerminal: boolean;
  /** `CI` is set and not `false`: no live display. */
  readonly ci: boolean;
};

export function readSettings(): Settings {
  const ci = readKey('CI');
  return {
    databaseUrl: readKey('DATABASE_URL'),
    dataDir: resolve(readKey('ASSAY_DIR') ?? '.assay'),
    cacheDir: resolve(readKey('XDG_CACHE_HOME') ?? resolve(homedir(), '.cache'), 'assay'),
    worker: readKey('ASSAY_WORKER'),
    noColor: readKey('NO_COLOR') !== null || readKey('TERM') === 'dumb',
    dumbTerminal: readKey('TERM') === 'dumb',
    ci: ci !== null && ci.toLowerCase() !== 'false' && ci !== '0',
  };
}

/** Value of one variable; null when it is unset or empty. */
export function readKey(name: string): string | null {
  const value = env[name];
  return value === undefined || value === '' ? null : value;
}
