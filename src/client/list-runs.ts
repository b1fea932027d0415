import type { OutcomeKind } from '../domain/outcome.ts';
import { loadOutcomeCounts } from '../store/outcome-counts.ts';
import type { RunRow } from '../store/runs.ts';
import { listRuns as listRunRows } from '../store/runs.ts';
import type { AssayConnection } from './connect.ts';

export type ListedRun = Pick<
  RunRow,
  'runId' | 'name' | 'state' | 'reason' | 'generation' | 'createdAt' | 'startedAt' | 'finishedAt'
> & {
  /** Recorded cells by outcome. */
  readonly outcomes: { readonly [K in OutcomeKind]?: number };
};

/** The newest runs first; `openOnly` leaves out those that have ended. */
export async function listRuns(
  { db }: AssayConnection,
  options: { readonly limit: number; readonly openOnly: boolean },
): Promise<readonly ListedRun[]> {
  const rows = await listRunRows(db, options);
  return Promise.all(
    rows.map(async ({ runId, name, state, reason, generation, createdAt, startedAt, finishedAt }) => {
      const outcomes = await loadOutcomeCounts(db, runId);
      return { runId, name, state, reason, generation, createdAt, startedAt, finishedAt, outcomes };
    }),
  );
}
