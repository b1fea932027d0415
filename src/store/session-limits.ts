import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';

/** What a host bears of one kind of session, for all its workers together. */
export type SessionLimit = { readonly capacity: number; readonly opensPerSecond: number };

type Kind = { readonly hostId: string; readonly kind: string };

/**
 * Whether the worker behind this connection opens the sessions of a kind on its host from here on. One worker of a host
 * does, for as long as its connection lives, so that places and rate are those of the host.
 */
export async function leadSessions(connection: Db, { hostId, kind }: Kind): Promise<boolean> {
  const row = await selectRow<{ leads: boolean }>(connection, {
    text: `select pg_try_advisory_lock(hashtextextended('assay/sessions/' || $1 || '/' || $2, 0)) as leads`,
    values: [hostId, kind],
  });
  return row.leads;
}

/** Keeps the settings of a host's worker; what somebody has set stays. */
export async function saveSessionLimit(
  db: Db,
  { hostId, kind, capacity, opensPerSecond }: Kind & SessionLimit,
): Promise<void> {
  await db.query({
    text: `insert into session_limits (host_id, kind, capacity, opens_per_second) values ($1, $2, $3, $4)
      on conflict (host_id, kind) do update
        set capacity = excluded.capacity, opens_per_second = excluded.opens_per_second`,
    values: [hostId, kind, capacity, opensPerSecond],
  });
}

/** The limits that hold on a host, by kind. */
export async function loadSessionLimits(db: Db, hostId: string): Promise<ReadonlyMap<string, SessionLimit>> {
  const rows = await selectRows<SessionLimit & { kind: string }>(db, {
    name: 'load-session-limits',
    text: `select kind, coalesce(set_capacity, capacity) as capacity, opens_per_second as "opensPerSecond"
      from session_limits where host_id = $1`,
    values: [hostId],
  });
  return new Map(rows.map(({ kind, ...limit }) => [kind, limit]));
}

/**
 * Sets how many sessions of a kind every host bears; `auto` = as its worker is set. Answers what held before, or null
 * when no host has said that it opens this kind.
 */
export async function setSessionCapacity(
  db: Db,
  { kind, capacity }: { readonly kind: string; readonly capacity: number | 'auto' },
): Promise<string | null> {
  const rows = await selectRows<{ before: string }>(db, {
    text: `with before as (select kind, host_id, coalesce(set_capacity::text, 'auto') as wish from session_limits
        where kind = $1 for update)
      update session_limits l set set_capacity = $2 from before b
      where l.host_id = b.host_id and l.kind = b.kind returning b.wish as before`,
    values: [kind, capacity === 'auto' ? null : capacity],
  });
  return rows[0]?.before ?? null;
}

/** Those of these sessions that take no place any more: closed, or kept for a person. */
export async function listEndedSessions(db: Db, sessionIds: readonly string[]): Promise<readonly string[]> {
  const rows = await selectRows<{ session_id: string }>(db, {
    name: 'list-ended-sessions',
    text: `select session_id from environment_sessions
      where session_id = any ($1) and state in ('closed', 'retained')`,
    values: [sessionIds],
  });
  return rows.map((row) => row.session_id);
}
