import { readKey } from '../config/environment-variables.ts';
import { listNeededKeys } from '../store/worker-keys.ts';
import type { AssayConnection } from './connect.ts';
import { offerKeys } from './key-socket.ts';

/**
 * Hands the worker of this machine every named variable that this process has; the newest value counts. Returns
 * the names that the worker has now; none when no worker of this machine takes keys.
 */
export async function handOverKeys(
  { dataDir }: AssayConnection,
  names: readonly string[],
): Promise<readonly string[]> {
  if (dataDir === undefined || names.length === 0) return [];
  const answer = await offerKeys(dataDir, { keys: readKeys(names), ask: [...names] });
  return answer === null ? [] : names.filter((name) => !answer.missing.includes(name));
}

/**
 * Hands over what open runs need, the worker of this machine has not, and this process has. Values that the
 * worker has stay: a command that only looks must not change the key of a run.
 */
export async function handOverMissing({ db, dataDir }: AssayConnection): Promise<void> {
  if (dataDir === undefined) return;
  const needed = await listNeededKeys(db);
  if (Object.keys(readKeys(needed)).length === 0) return;
  const answer = await offerKeys(dataDir, { keys: {}, ask: [...needed] });
  const keys = readKeys(answer?.missing ?? []);
  if (Object.keys(keys).length > 0) await offerKeys(dataDir, { keys, ask: [] });
}

const readKeys = (names: readonly string[]): { [name: string]: string } =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = readKey(name);
      return value === null ? [] : [[name, value] as const];
    }),
  );
