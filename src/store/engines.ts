import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { RUN_CHANNEL } from './runs.ts';
import { escapeNullable, escapeText } from './text.ts';

/** The thing that can be down: a provider endpoint with its credential. Equal id = same engine. */
export type EngineSpec = {
  readonly engineId: string;
  readonly kind: string;
  readonly baseUrl: string | null;
  /** Name of the variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  /** Calls in flight per worker; `auto` = as many as the provider bears. */
  readonly concurrency: number | 'auto';
  /** Over all workers and runs; null = no limit. */
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
};

/** Adds engines, or brings their limits up to what the newest run says. */
export async function saveEngines(db: Db, engines: readonly EngineSpec[]): Promise<void> {
  if (engines.length === 0) return;
  const unique = [...new Map(engines.map((engine) => [engine.engineId, engine])).values()].sort((a, b) =>
    a.engineId < b.engineId ? -1 : 1,
  );
  await db.query({
    text: `with said as (
        select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::bigint[])
          as said(engine_id, kind, base_url, key_name, concurrency, requests_per_minute, tokens_per_minute)
      ), health as (
        insert into engine_health (engine_id, role)
        select engine_id, role from said, unnest(array['agent', 'judge']) role on conflict do nothing
      ), lines as (
        insert into engine_rates (engine_id) select engine_id from said
        where num_nonnulls(requests_per_minute, tokens_per_minute) > 0 on conflict do nothing
      )
      insert into engines
        (engine_id, kind, base_url, key_name, concurrency, requests_per_minute, tokens_per_minute)
      select * from said
      on conflict (engine_id) do update set concurrency = excluded.concurrency,
        requests_per_minute = excluded.requests_per_minute, tokens_per_minute = excluded.tokens_per_minute,
        updated_at = now()
      where (engines.concurrency, engines.requests_per_minute, engines.tokens_per_minute)
        is distinct from (excluded.concurrency, excluded.requests_per_minute, excluded.tokens_per_minute)`,
    values: [
      unique.map((engine) => engine.engineId),
      unique.map((engine) => engine.kind),
      unique.map((engine) => engine.baseUrl),
      unique.map((engine) => engine.apiKeyEnv),
      unique.map((engine) => String(engine.concurrency)),
      unique.map((engine) => engine.requestsPerMinute),
      unique.map((engine) => engine.tokensPerMinute),
    ],
  });
}

/**
 * Sets the calls in flight per worker of an engine, from now on: the latest wish counts, a new run's included.
 * Workers are told at once. Recorded as a change of limit `slots` with its reason, unless it was so before.
 * Returns the wish before; null = no such engine.
 */
export async function setEngineConcurrency(
  db: Db,
  wish: {
    readonly engineId: string;
    readonly concurrency: number | 'auto';
    readonly reason: string;
    /** The run that wishes it. */
    readonly runId?: string | null;
    /** Who asked for it, and what names the message. */
    readonly by?: string | null;
    readonly changeKey?: string | null;
  },
): Promise<string | null> {
  const [row] = await selectRows<{ before: string }>(db, {
    text: `with before as (select engine_id, concurrency from engines where engine_id = $1 for update),
      changed as (
        update engines e set concurrency = $2, updated_at = now() from before
        where e.engine_id = before.engine_id returning e.engine_id, before.concurrency as old_value
      ), recorded as (
        insert into limit_changes
          (run_id, engine_id, limit_name, old_value, new_value, reason, changed_by, change_key)
        select $4, engine_id, 'slots', old_value, $2, $3, $5, $6 from changed where old_value <> $2)
      select old_value as before, pg_notify('${RUN_CHANNEL}', coalesce($4, '')) from changed`,
    values: [
      wish.engineId,
      String(wish.concurrency),
      escapeText(wish.reason),
      wish.runId ?? null,
      escapeNullable(wish.by ?? null),
      wish.changeKey ?? null,
    ],
  });
  return row?.before ?? null;
}

/** Says which engines a run needs from now on; what is known of an engine stays as it was set. */
export async function saveRunEngines(
  db: Db,
  { runId, engines }: { readonly runId: string; readonly engines: readonly EngineSpec[] },
): Promise<void> {
  const engineIds = engines.map((engine) => engine.engineId);
  const known = await selectRows<{ engine_id: string }>(db, {
    text: 'select engine_id from engines where engine_id = any($1)',
    values: [engineIds],
  });
  await saveEngines(
    db,
    engines.filter(({ engineId }) => !known.some((row) => row.engine_id === engineId)),
  );
  await db.query({
    text: 'update runs set engine_ids = $2 where run_id = $1',
    values: [runId, [...new Set(engineIds)]],
  });
}

/** Records that a worker has changed its slots for an engine by itself. */
export async function recordSlotChange(
  db: Db,
  change: {
    readonly engineId: string;
    readonly hostId: string;
    readonly from: number;
    readonly to: number;
    readonly reason: string;
  },
): Promise<void> {
  await db.query({
    text: `insert into limit_changes (engine_id, limit_name, old_value, new_value, reason)
      values ($1, 'slots of ' || $2, $3, $4, $5)`,
    values: [change.engineId, change.hostId, String(change.from), String(change.to), change.reason],
  });
}

/**
 * `pauseMs`: how long it is still paused; 0 = it is not. `probing`: nobody knows whether it is alive. One that is
 * known to be down is none of these: its calls are told so.
 */
export type OpenEngine = EngineSpec & { readonly pauseMs: number; readonly probing: boolean };

const PROBING = `not exists (select from engine_health h where h.engine_id = engines.engine_id
  and (is_alive(h) or (h.tripped_at is not null and coalesce(h.half_open_at > clock_timestamp(), true))))`;

const PAUSE_MS = `greatest(0, coalesce(extract(epoch from paused_until - clock_timestamp()) * 1000, 0))::float8`;

/** The engines that runs need which have not ended: those whose task queues workers serve. */
export async function listOpenEngines(db: Db): Promise<OpenEngine[]> {
  const rows = await selectRows<StoredEngine>(db, {
    name: 'list-open-engines',
    text: `select engine_id, kind, base_url, key_name, concurrency, requests_per_minute,
        tokens_per_minute, ${PAUSE_MS} as pause_ms, ${PROBING} as probing from engines
      where engine_id in (select unnest(engine_ids) from runs where finished_at is null) order by engine_id`,
  });
  return rows.map((row) => ({
    engineId: row.engine_id,
    kind: row.kind,
    baseUrl: row.base_url,
    apiKeyEnv: row.key_name,
    concurrency: row.concurrency === 'auto' ? 'auto' : Number(row.concurrency),
    requestsPerMinute: row.requests_per_minute,
    tokensPerMinute: row.tokens_per_minute,
    pauseMs: row.pause_ms,
    probing: row.probing,
  }));
}

/**
 * Hands out no call of an engine for `pauseMs` from now. A pause is never shortened by a shorter one.
 * Recorded as an engine event; workers are told at once.
 */
export async function pauseEngine(
  db: Db,
  {
    engineId,
    pauseMs,
    reason,
    runId = null,
  }: {
    readonly engineId: string;
    readonly pauseMs: number;
    readonly reason: string;
    readonly runId?: string | null;
  },
): Promise<void> {
  await db.query({
    text: `with paused as (
        update engines set paused_until = clock_timestamp() + $2::float8 * interval '1 millisecond',
          pause_reason = $3, updated_at = now()
        where engine_id = $1
          and (paused_until is null or paused_until < clock_timestamp() + $2::float8 * interval '1 millisecond')
        returning engine_id, paused_until),
      recorded as (
        insert into engine_events (engine_id, run_id, kind, reason, detail)
        select engine_id, $4, 'paused', $3, paused_until::text from paused)
      select pg_notify('${RUN_CHANNEL}', coalesce($4, '')) from paused`,
    values: [engineId, pauseMs, escapeText(reason), runId],
  });
}

type StoredEngine = {
  readonly engine_id: string;
  readonly kind: string;
  readonly base_url: string | null;
  readonly key_name: string | null;
  readonly concurrency: string;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  readonly pause_ms: number;
  readonly probing: boolean;
};
