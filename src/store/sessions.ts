import type { AttemptKey } from '../domain/ids.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

export type SessionRow = {
  readonly sessionId: string;
  readonly key: AttemptKey;
  readonly tryNumber: number;
  readonly purpose: 'task' | 'evaluation';
  readonly kind: string;
  readonly hostId: string;
  /** Null until it is open. */
  readonly root: string | null;
  /** The workflow that owns it: when that has ended the session is an orphan. */
  readonly workflowId: string;
  readonly state: 'intent' | 'open' | 'closed';
};

export type SessionIntent = Omit<SessionRow, 'root' | 'state'>;

/** Says, before a provider is asked, that a session is about to be, so that an orphan can be found. */
export async function planSession(db: Db, intent: SessionIntent): Promise<void> {
  const { key } = intent;
  await db.query({
    text: `insert into environment_sessions
        (session_id, run_id, task, attempt, generation, try_number, purpose, kind, host_id, workflow_id)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
    values: [
      intent.sessionId,
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      intent.tryNumber,
      intent.purpose,
      intent.kind,
      intent.hostId,
      intent.workflowId,
    ],
  });
}

/** Records that a planned session is open at `root`; a closed one stays closed. */
export async function markSessionOpened(
  db: Db,
  { sessionId, root }: { readonly sessionId: string; readonly root: string },
): Promise<void> {
  await db.query({
    text: `update environment_sessions set state = 'open', root = $2, opened_at = now()
      where session_id = $1 and state = 'intent'`,
    values: [sessionId, root],
  });
}

/** Records that nothing of a session is left. Idempotent. */
export async function markSessionClosed(db: Db, sessionId: string): Promise<void> {
  await db.query({
    text: `update environment_sessions set state = 'closed', closed_at = now()
      where session_id = $1 and state <> 'closed'`,
    values: [sessionId],
  });
}

/** Sessions that are not closed, of a run, of a host, or all; the oldest first. */
export async function listLiveSessions(
  db: Db,
  { runId = null, hostId = null }: { readonly runId?: string | null; readonly hostId?: string | null } = {},
): Promise<SessionRow[]> {
  const rows = await selectRows<StoredSession>(db, {
    text: `select * from environment_sessions
      where state <> 'closed' and ($1::text is null or run_id = $1) and ($2::text is null or host_id = $2)
      order by created_at, session_id`,
    values: [runId, hostId],
  });
  return rows.map((row) => ({
    sessionId: row.session_id,
    key: { runId: row.run_id, task: row.task, attempt: row.attempt, generation: row.generation },
    tryNumber: row.try_number,
    purpose: row.purpose,
    kind: row.kind,
    hostId: row.host_id,
    root: row.root,
    workflowId: row.workflow_id,
    state: row.state,
  }));
}

type StoredSession = {
  readonly session_id: string;
  readonly run_id: string;
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly purpose: 'task' | 'evaluation';
  readonly kind: string;
  readonly host_id: string;
  readonly root: string | null;
  readonly workflow_id: string;
  readonly state: SessionRow['state'];
};
