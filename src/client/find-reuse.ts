import type { ReuseRequest } from '../domain/reuse.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import { findRun } from './find-run.ts';

/** The run that a word means, as one to take cells from. Throws a ClientError when it has none. */
export async function findReuse(
  { db }: AssayConnection,
  { word, allowMismatch }: { readonly word: string; readonly allowMismatch: boolean },
): Promise<ReuseRequest> {
  const { runId, planDigest, state } = await findRun(db, word);
  if (planDigest === null)
    throw new ClientError(`Run ${runId} is ${state} and was not planned: it has no cells to take.`);
  return { runId, ...(allowMismatch ? { allowMismatch } : {}) };
}
