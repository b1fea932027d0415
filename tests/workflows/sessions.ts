import type { TestAssay } from '../support/assay.ts';

export type StoredSession = {
  readonly session_id: string;
  readonly state: string;
  readonly try_number: number;
};

/** Sessions of environments that a run opened, in order. */
export async function readSessions({ db }: TestAssay, runId: string): Promise<StoredSession[]> {
  const { rows } = await db.query<StoredSession>(
    'select session_id, state, try_number from environment_sessions where run_id = $1 order by created_at, session_id',
    [runId],
  );
  return rows;
}
