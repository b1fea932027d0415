import type { Db } from '../store/pool.ts';
import { listRuns, type RunRow } from '../store/runs.ts';
import { findRun } from './find-run.ts';

const MAX_RUNS = 10_000;

/**
 * The run that another is held against: `last` = the newest of the same name that completed before it was created,
 * null when there is none; else the run that the word means. Throws a ClientError when a word means no run.
 */
export async function findBaseline(db: Db, run: RunRow, word: string): Promise<RunRow | null> {
  if (word !== 'last') return await findRun(db, word);
  const runs = await listRuns(db, { limit: MAX_RUNS });
  const earlier = runs.find(
    ({ runId, name, state, createdAt }) =>
      runId !== run.runId && name === run.name && state === 'completed' && createdAt < run.createdAt,
  );
  return earlier ?? null;
}
