import { describeMissingKeys } from '../domain/key-names.ts';
import { listHeldKeys, saveMissingKeys } from '../store/worker-keys.ts';
import type { Dependencies } from './dependencies.ts';
import { comeBack } from './failure.ts';

const LOOK_EVERY_MS = 2_000;

/**
 * A key that a worker had when the run was started, and that none has now, was lost with that worker: the run waits
 * for it, shows what to type, and skips nothing.
 */
export async function awaitKeys(
  { db, readKey }: Dependencies,
  { runId, keys = [] }: { readonly runId: string; readonly keys?: readonly string[] },
): Promise<void> {
  const unknown = keys.filter((name) => readKey(name) === null);
  const held = unknown.length === 0 ? [] : await listHeldKeys(db, unknown);
  const missing = unknown.filter((name) => !held.includes(name));
  if (missing.length === 0) return;
  await saveMissingKeys(db, { runId, missing });
  throw comeBack(LOOK_EVERY_MS, describeMissingKeys(missing, runId));
}
