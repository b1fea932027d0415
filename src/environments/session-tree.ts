import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
  utimes,
} from 'node:fs/promises';
import type { Stats } from 'node:fs';

const PERMISSIONS = 0o7777;

/**
 * Copies files, directories and links with their modes and times. Links stay as they are; sockets, pipes
 * and devices are left out. Files and directories of the source that their owner may not read are made
 * readable first.
 */
export const copyTree = (source: string, target: string): Promise<void> =>
  copyEntry(Buffer.from(source), Buffer.from(target));

/** Names are bytes: not all of them are UTF-8. */
const joinBytes = (directory: Buffer, name: Buffer): Buffer =>
  Buffer.concat([directory, Buffer.from('/'), name]);

async function copyEntry(source: Buffer, target: Buffer): Promise<void> {
  const state = await lstat(source);
  if (state.isSymbolicLink()) await symlink(await readlink(source, 'buffer'), target);
  else if (state.isDirectory()) await copyDirectory(source, target, state);
  else if (state.isFile()) await copyRegularFile(source, target, state);
}

async function copyDirectory(source: Buffer, target: Buffer, state: Stats): Promise<void> {
  if ((state.mode & 0o500) !== 0o500) await chmod(source, state.mode | 0o700);
  await mkdir(target, { recursive: true, mode: 0o700 });
  // The target may be there already, with a mode of its own.
  await chmod(target, 0o700);
  for (const name of await readdir(source, { encoding: 'buffer' })) {
    await copyEntry(joinBytes(source, name), joinBytes(target, name));
  }
  await chmod(target, state.mode & PERMISSIONS);
  await utimes(target, state.atime, state.mtime);
}

async function copyRegularFile(source: Buffer, target: Buffer, state: Stats): Promise<void> {
  if ((state.mode & 0o400) === 0) await chmod(source, state.mode | 0o400);
  await copyFile(source, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  await chmod(target, state.mode & PERMISSIONS);
  await utimes(target, state.atime, state.mtime);
}

/**
 * Removes a directory with all that is in it, also where directories inside are read-only. It gets another
 * name first, so that it never looks like a session while it is half gone. Nothing there = nothing to do.
 */
export async function removeTree(path: string, temporaryPath: string): Promise<void> {
  try {
    await rename(path, temporaryPath);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return;
  }
  await removeStubborn(temporaryPath);
}

/** Removes a directory; where permission is missing, its directories are opened up first. */
export async function removeStubborn(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    await openUp(Buffer.from(path));
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function openUp(directory: Buffer): Promise<void> {
  await chmod(directory, 0o700);
  for (const entry of await readdir(directory, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) await openUp(joinBytes(directory, entry.name));
  }
}
