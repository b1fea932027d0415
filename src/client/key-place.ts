import { createHash } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';

/** A socket's path has at most 107 bytes on Linux and 103 on macOS. */
const LONGEST_PATH_BYTES = 100;

/**
 * Path of the socket on which the worker of a local stack takes keys: `keys/worker.sock` in the data folder, or
 * where that path is too long for a socket a folder in /tmp that is named after it. `dataDir` is a real path.
 */
export function toKeySocketPath(dataDir: string): string {
  const path = join(dataDir, 'keys', 'worker.sock');
  if (Buffer.byteLength(path) <= LONGEST_PATH_BYTES) return path;
  const digest = createHash('sha256').update(dataDir).digest('hex').slice(0, 16);
  return join('/tmp', `assay-keys-${userId()}-${digest}`, 'worker.sock');
}

/** Why a socket's folder is not to be trusted, for anybody may make folders in /tmp; null = it is this user's alone. */
export function findFolderFault(socketPath: string): string | null {
  const folder = dirname(socketPath);
  const facts = lstatSync(folder);
  if (!facts.isDirectory()) return `${folder} is no folder`;
  if (facts.uid !== userId()) return `${folder} belongs to another user`;
  return (facts.mode & 0o077) === 0 ? null : `${folder} is open to other users`;
}

const userId = (): number => getuid?.() ?? 0;
