import type { AttemptKey } from '../domain/ids.ts';
import type { EnforcedResources } from '../domain/resources.ts';
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
  readonly state: 'intent' | 'open' | 'retained' | 'closed';
  /** The limits as they hold; null until it is open. */
  readonly resources: EnforcedResources | null;
  readonly createdAt: string;
  /** When a retained session may be removed; null = it is not retained. */
  readonly keepUntil: string | null;
  /** Retained, and its time is over. */
  readonly expired: boolean;
};

export type SessionIntent = Pick<
  SessionRow,
  'sessionId' | 'key' | 'tryNumber' | 'purpose' | 'kind' | 'hostId' | 'workflowId'
> & {
  /** The workflow's execution: a workflow of the same id that begins anew has another. */
  readonly executionId: string;
  /** Kept for so long instead of being closed; null or absent = closed. */
  readonly keepMs?: number | null;
};

/**
 * Says, before a provider is asked, that a session is about to be, so that an orphan can be found. `again` = it was
 * said before, by a delivery that was cut off: what that one opened is half-made, or on another host. `over` = it
 * has been closed or kept, and is not to be opened. A grading that is done again opens its session again, and so does
 * an attempt that gave its place away before it did anything and begins anew.
 */
export async function planSession(db: Db, intent: SessionIntent): Promise<'new' | 'again' | 'over'> {
  const { key } = intent;
  const [row] = await selectRows<{ is_new: boolean }>(db, {
    text: `insert into environment_sessions as s
        (session_id, run_id, task, attempt, generation, try_number, purpose, kind, host_id, workflow_id, execution_id,
          keep_ms)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
      on conflict (session_id) do update
        set host_id = excluded.host_id, state = 'intent', root = null, resources = null, closed_at = null,
          keep_until = null, execution_id = excluded.execution_id
        where s.state in ('intent', 'open') or s.purpose = 'evaluation'
          or (s.state = 'closed' and s.execution_id <> excluded.execution_id)
      returning xmax = 0 as is_new`,
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
      intent.executionId,
      intent.keepMs ?? null,
    ],
  });
  if (row === undefined) return 'over';
  return row.is_new ? 'new' : 'again';
}

/** Records that a planned session is open; a closed one, or one that began anew on another host, stays what it is. */
export async function markSessionOpened(
  db: Db,
  {
    handle,
    enforced,
  }: {
    readonly handle: Pick<SessionRow, 'sessionId' | 'hostId'> & { readonly root: string };
    readonly enforced: EnforcedResources;
  },
): Promise<void> {
  await db.query({
    text: `update environment_sessions set state = 'open', root = $2, resources = $3, opened_at = now()
      where session_id = $1 and host_id = $4 and state = 'intent'`,
    values: [handle.sessionId, handle.root, JSON.stringify(enforced), handle.hostId],
  });
}

/** Retains a session that is to be kept. False = it is not: close it. Idempotent. */
export async function retainSession(db: Db, sessionId: string): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `update environment_sessions
      set state = 'retained', keep_until = coalesce(keep_until, now() + keep_ms * interval '1 millisecond')
      where session_id = $1 and keep_ms is not null and state in ('open', 'retained')`,
    values: [sessionId],
  });
  return rowCount === 1;
}

/** Ends the time of retained sessions. */
export async function expireSessions(db: Db, sessionIds: readonly string[]): Promise<void> {
  await db.query({
    text: `update environment_sessions set keep_until = now() where state = 'retained' and session_id = any ($1)`,
    values: [sessionIds],
  });
}

/**
 * Records that nobody waits for what lies on a host: its sessions count as closed. A worker of it that comes back all
 * the same removes them. Returns their ids.
 */
export async function forgetSessions(db: Db, hostId: string): Promise<readonly string[]> {
  const rows = await selectRows<{ session_id: string }>(db, {
    text: `update environment_sessions set state = 'closed', closed_at = now()
      where host_id = $1 and state <> 'closed' returning session_id`,
    values: [hostId],
  });
  return rows.map((row) => row.session_id).toSorted();
}

/** Records that nothing of a session is left on a host. Idempotent; one that moved to another host stays open. */
export async function markSessionClosed(
  db: Db,
  { sessionId, hostId }: Pick<SessionRow, 'sessionId' | 'hostId'>,
): Promise<void> {
  await db.query({
    text: `update environment_sessions set state = 'closed', closed_at = now()
      where session_id = $1 and host_id = $2 and state <> 'closed'`,
    values: [sessionId, hostId],
  });
}

/** Sessions that are not closed, of a run, of a host, or all; the oldest first. */
export async function listLiveSessions(
  db: Db,
  { runId = null, hostId = null }: { readonly runId?: string | null; readonly hostId?: string | null } = {},
): Promise<SessionRow[]> {
  const rows = await selectRows<StoredSession>(db, {
    text: `select *, state = 'retained' and keep_until <= now() as expired from environment_sessions
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
    resources: row.resources,
    createdAt: row.created_at.toISOString(),
    keepUntil: row.keep_until?.toISOString() ?? null,
    expired: row.expired,
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
  readonly resources: EnforcedResources | null;
  readonly created_at: Date;
  readonly keep_until: Date | null;
  readonly expired: boolean;
};
