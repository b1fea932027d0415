import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import type { FileHandle } from 'node:fs/promises';
import { SessionFileError, SessionLostError } from './environment.ts';
import type { FoundFile } from './environment.ts';

export const MAX_READ_BYTES = 8 * 1024 * 1024;
export const MAX_FOUND_FILES = 10_000;

const isInside = (directory: string, path: string): boolean => {
  const way = relative(directory, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
};

const outside = (path: string): SessionFileError =>
  new SessionFileError(`"${path}" is outside the working directory; use a path inside it.`);

const hasCode = (error: unknown, ...codes: readonly string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '');

const missing = (path: string): SessionFileError => new SessionFileError(`"${path}" does not exist.`);

/** The directory's real path. Throws a `SessionLostError` when it is gone. */
async function findRoot(directory: string): Promise<string> {
  try {
    return await realpath(directory);
  } catch (error) {
    throw new SessionLostError('The directory of the session is gone.', { cause: error });
  }
}

/** The path as written, joined to the directory; an absolute one may name the directory's real path too. */
function joinInside(directory: string, root: string, path: string): string {
  if (path.includes('\0')) throw new SessionFileError('A path may not hold a zero byte.');
  const joined = resolve(directory, path);
  if (isInside(directory, joined)) return joined;
  if (isInside(root, joined)) return joined;
  throw outside(path);
}

/** Follows links. `shown` is the path in messages. */
async function followInside(root: string, joined: string, shown: string): Promise<string> {
  const real = await realpath(joined);
  if (!isInside(root, real)) throw outside(shown);
  return real;
}

/**
 * The real path of an existing file or directory inside `directory`, links followed.
 * Throws a `SessionFileError` when it is missing or, at the end of its links, outside.
 */
export async function resolveExisting(directory: string, path: string): Promise<string> {
  const root = await findRoot(directory);
  try {
    return await followInside(root, joinInside(directory, root, path), path);
  } catch (error) {
    throw toFileError(path, error);
  }
}

const exists = (path: string): Promise<boolean> => lstat(path).then(Boolean, () => false);

/** Like `resolveExisting` for a file that may not exist yet; directories that are missing above it are made. */
async function resolveForWriting(directory: string, path: string): Promise<string> {
  const root = await findRoot(directory);
  const joined = joinInside(directory, root, path);
  if (await exists(joined)) return followInside(root, joined, path);
  let above = dirname(joined);
  while (above !== dirname(above) && !(await exists(above))) above = dirname(above);
  const target = join(await followInside(root, above, path), relative(above, joined));
  await mkdir(dirname(target), { recursive: true });
  return target;
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;

/** Opens a regular file for reading; every refusal is a `SessionFileError`. The caller closes it. */
export async function openForReading(directory: string, path: string): Promise<FileHandle> {
  const real = await resolveExisting(directory, path);
  // Not blocking: opening a named pipe would wait for its writer.
  return openRegular({ real, path, flags: O_RDONLY | O_NONBLOCK | O_NOFOLLOW });
}

/** Opens a regular file for writing, empties it, and makes the directories above it. The caller closes it. */
export async function openForWriting(directory: string, path: string): Promise<FileHandle> {
  if (path === '' || path.endsWith('/')) throw new SessionFileError(`"${path}" does not name a file.`);
  try {
    const real = await resolveForWriting(directory, path);
    return await openRegular({ real, path, flags: O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK });
  } catch (error) {
    throw toFileError(path, error);
  }
}

type Opening = { readonly real: string; readonly path: string; readonly flags: number };

async function openRegular({ real, path, flags }: Opening): Promise<FileHandle> {
  try {
    const file = await open(real, flags, 0o644);
    const state = await file.stat();
    if (state.isFile()) return file;
    await file.close();
    if (state.isDirectory()) throw new SessionFileError(`"${path}" is a directory; list it instead.`);
    throw new SessionFileError(`"${path}" is not a regular file.`);
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** Reads a regular file of at most 8 MiB; every refusal is a `SessionFileError`. */
export async function readFileInside(directory: string, path: string): Promise<Uint8Array> {
  await using file = await openForReading(directory, path);
  try {
    const state = await file.stat();
    if (state.size > MAX_READ_BYTES) throw tooBig(path, state.size);
    const content = await file.readFile();
    if (content.length > MAX_READ_BYTES) throw tooBig(path, content.length);
    return content;
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** Writes a file and the directories above it; every refusal is a `SessionFileError`. */
export async function writeFileInside(directory: string, path: string, content: Uint8Array): Promise<void> {
  await using file = await openForWriting(directory, path);
  try {
    await file.writeFile(content);
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** Regular files below a directory at any depth, links not followed, sorted. */
export async function findFilesInside(directory: string, path: string): Promise<readonly FoundFile[]> {
  const real = await resolveExisting(directory, path);
  const found: FoundFile[] = [];
  const look = async (below: string): Promise<void> => {
    for (const entry of await readdir(join(real, below), { withFileTypes: true }).catch(() => [])) {
      if (found.length >= MAX_FOUND_FILES) return;
      const name = join(below, entry.name);
      if (entry.isDirectory()) await look(name);
      if (entry.isFile()) found.push({ path: name, bytes: (await lstat(join(real, name))).size });
    }
  };
  await look('');
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/** Names one level below a directory, sorted, directories with a trailing slash. */
export async function listFilesInside(directory: string, path: string): Promise<readonly string[]> {
  const real = await resolveExisting(directory, path);
  try {
    const entries = await readdir(real, { withFileTypes: true });
    return entries.map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name)).toSorted();
  } catch (error) {
    throw toFileError(path, error);
  }
}

export const tooBig = (path: string, bytes: number): SessionFileError =>
  new SessionFileError(
    `"${path}" has ${bytes} bytes; at most ${MAX_READ_BYTES} can be read. Use a command such as head, tail or grep.`,
  );

/** Faults that the path's user can mend, in words without the host's own paths; others stay as they are. */
function toFileError(path: string, error: unknown): unknown {
  if (error instanceof SessionFileError) return error;
  if (hasCode(error, 'ENOENT')) return missing(path);
  if (hasCode(error, 'EISDIR')) return new SessionFileError(`"${path}" is a directory.`);
  if (hasCode(error, 'ENOTDIR', 'EEXIST'))
    return new SessionFileError(`"${path}": a part of the path is not a directory.`);
  if (hasCode(error, 'EACCES', 'EPERM', 'EROFS'))
    return new SessionFileError(`"${path}": permission denied.`);
  if (hasCode(error, 'ELOOP')) return new SessionFileError(`"${path}": too many links.`);
  if (hasCode(error, 'ENAMETOOLONG')) return new SessionFileError('The path is too long.');
  if (hasCode(error, 'ENXIO')) return new SessionFileError(`"${path}" is not a regular file.`);
  return error;
}
