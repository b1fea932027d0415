import { randomBytes } from 'node:crypto';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ClientError } from '../client/client-error.ts';

/**
 * Writes a whole file or leaves the old one: the text goes to a file beside it, to the disk, and then takes the
 * name. Devices and pipes are written to as they are. Throws a ClientError that says why the target cannot be
 * written.
 */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    const target = await findTarget(path);
    if (target.kind === 'stream') await writeWhole(target.path, { flag: 'a', text });
    else await writeAndRename(target.path, text);
  } catch (error) {
    throw new ClientError(`${path} cannot be written: ${toCause(error)}. Nothing was changed.`, {
      cause: error,
    });
  }
}

type Target = { readonly kind: 'file' | 'stream'; readonly path: string };

/** A link keeps leading to its file, and only a plain file may be replaced by another. */
async function findTarget(path: string): Promise<Target> {
  const real = await realpath(path).catch(() => resolve(path));
  const found = await stat(real).catch(() => null);
  return { kind: found === null || found.isFile() || found.isDirectory() ? 'file' : 'stream', path: real };
}

async function writeAndRename(target: string, text: string): Promise<void> {
  const draft = join(dirname(target), `.${randomBytes(6).toString('hex')}.assay`);
  try {
    await writeWhole(draft, { flag: 'wx', text });
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw error;
  }
}

async function writeWhole(
  path: string,
  { flag, text }: { readonly flag: 'a' | 'wx'; readonly text: string },
): Promise<void> {
  const file = await open(path, flag, 0o644);
  try {
    await file.writeFile(text);
    if (flag === 'wx') await file.sync();
  } finally {
    await file.close();
  }
}

const CAUSES: { readonly [code: string]: string } = {
  ENOSPC: 'the disk is full; free some space',
  EDQUOT: 'your quota is used up; free some space',
  EACCES: 'access is denied; choose another place',
  EPERM: 'access is denied; choose another place',
  EROFS: 'the file system is read-only; choose another place',
  ENOENT: 'its folder does not exist; make it first',
  ENOTDIR: 'a part of the path is no folder; check the path',
  EISDIR: 'it is a folder; give the name of a file',
};

function toCause(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return CAUSES[code] ?? (error instanceof Error ? error.message : String(error));
}
