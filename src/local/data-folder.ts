import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  realpathSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { StackError, codeOf, messageOf } from './stack-error.ts';

/** Below this a new database may not fit, and a running one may stop in the middle of a run. */
export const neededSpaceMb = 300;

/**
 * Makes the data folder when it is missing and returns its real path. Its own `.gitignore` keeps it out of a project's
 * history. Throws a StackError when it cannot be written.
 */
export function prepareDataFolder(dataDir: string): string {
  try {
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const ignoreFile = join(dataDir, '.gitignore');
    if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, '*\n');
  } catch (error) {
    throw explainFolder(dataDir, error);
  }
  return realpathSync(dataDir);
}

/** Whether a local stack has kept data here: its password is made with its database and never removed. */
export const hasLocalData = (dataDir: string): boolean => existsSync(localPasswordFile(dataDir));

/** File with the password of the local database, wherever the database itself lies. */
export const localPasswordFile = (dataDir: string): string => join(dataDir, 'postgres.password');

/** Throws a StackError when the disk of a folder is too full to start a part of the stack. */
export function assertFreeSpace(dataDir: string): void {
  const free = freeSpaceMb(dataDir);
  if (free >= neededSpaceMb) return;
  throw new StackError(
    `Only ${free} MB are free on the disk of ${dataDir}; ${neededSpaceMb} MB are needed. Free some space, then run the command again.`,
  );
}

/** Free space in MB on the disk of a folder, as this user may use it. */
export function freeSpaceMb(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return Math.floor((bavail * bsize) / 1_000_000);
}

function explainFolder(dataDir: string, error: unknown): StackError {
  if (codeOf(error) === 'ENOSPC') {
    return new StackError(`The disk of ${dataDir} is full. Free some space, then run the command again.`, {
      cause: error,
    });
  }
  return new StackError(
    `The data folder ${dataDir} cannot be written (${messageOf(error)}). Run the command in a folder that you may write, or change its owner.`,
    { cause: error },
  );
}
