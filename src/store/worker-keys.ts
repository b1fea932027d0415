import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { RUN_CHANNEL } from './runs.ts';

/** Names of variables that one worker has a value for, and that it misses. */
export type WorkerKeys = {
  readonly workerId: string;
  readonly held: readonly string[];
  readonly missed: readonly string[];
};

/** Says it anew; what is said counts for 20 s. */
export async function saveWorkerKeys(db: Db, { workerId, held, missed }: WorkerKeys): Promise<void> {
  await db.query({
    name: 'say-worker-keys',
    text: 'select say_worker_keys($1, $2, $3)',
    values: [workerId, held, missed],
  });
}

/** Takes back what former workers of a host have said, whose ids begin with it. */
export async function forgetWorkerKeys(db: Db, hostId: string): Promise<void> {
  await db.query({
    text: `delete from worker_keys where starts_with(worker_id, $1 || '/')`,
    values: [hostId],
  });
}

/** Those of the names for which some worker has a value. */
export async function listHeldKeys(db: Db, names: readonly string[]): Promise<readonly string[]> {
  const rows = await selectRows<{ key_name: string }>(db, {
    text: `select distinct key_name from worker_keys
      where held and key_name = any($1) and seen_at > clock_timestamp() - interval '20 seconds'`,
    values: [names],
  });
  return rows.map((row) => row.key_name);
}

/** Names of the variables that open runs need: those of their engines, and what they wait for. */
export async function listNeededKeys(db: Db): Promise<readonly string[]> {
  const rows = await selectRows<{ name: string }>(db, {
    text: `with open as (select engine_ids, missing_keys from runs where finished_at is null)
      select e.key_name as name from engines e
      where e.key_name is not null and e.engine_id in (select unnest(engine_ids) from open)
      union select unnest(missing_keys) from open order by name`,
  });
  return rows.map((row) => row.name);
}

/** An open run whose wait for keys is not what its row says. */
export type ChangedWait = {
  readonly runId: string;
  readonly workflowId: string;
  /** Empty = it waits for none. */
  readonly missing: readonly string[];
};

export async function listChangedWaits(db: Db): Promise<readonly ChangedWait[]> {
  const rows = await selectRows<{ run_id: string; workflow_id: string; missing: string[] }>(db, {
    name: 'list-changed-waits',
    text: 'select run_id, workflow_id, missing from list_changed_waits()',
  });
  return rows.map((row) => ({ runId: row.run_id, workflowId: row.workflow_id, missing: row.missing }));
}

/** Writes what an open run waits for, so that commands show it. */
export async function saveMissingKeys(
  db: Db,
  { runId, missing }: { readonly runId: string; readonly missing: readonly string[] },
): Promise<void> {
  await db.query({
    text: `with changed as (
        update runs set missing_keys = $2
        where run_id = $1 and finished_at is null and missing_keys is distinct from $2 returning run_id)
      select pg_notify('${RUN_CHANNEL}', run_id) from changed`,
    values: [runId, missing],
  });
}
