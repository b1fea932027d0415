import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { escapeText } from './text.ts';

/** The thing that can be down: a provider endpoint with its credential. Equal id = same engine. */
export type EngineSpec = {
  readonly engineId: string;
  readonly kind: string;
  readonly baseUrl: string | null;
  /** Name of the variable that holds the key; never the key. */
  readonly apiKeyEnv: string | null;
  readonly concurrency: number | 'auto';
};

/** Adds engines, or brings their concurrency up to what the newest run says. */
export async function saveEngines(db: Db, engines: readonly EngineSpec[]): Promise<void> {
  if (engines.length === 0) return;
  const unique = [...new Map(engines.map((engine) => [engine.engineId, engine])).values()].sort((a, b) =>
    a.engineId < b.engineId ? -1 : 1,
  );
  await db.query({
    text: `insert into engines (engine_id, kind, base_url, key_name, concurrency)
      select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[])
      on conflict (engine_id) do update set concurrency = excluded.concurrency, updated_at = now()
      where engines.concurrency <> excluded.concurrency`,
    values: [
      unique.map((engine) => engine.engineId),
      unique.map((engine) => engine.kind),
      unique.map((engine) => engine.baseUrl),
      unique.map((engine) => engine.apiKeyEnv),
      unique.map((engine) => String(engine.concurrency)),
    ],
  });
}

/** The engines that runs need which have not ended: those whose task queues workers serve. */
export async function listOpenEngines(db: Db): Promise<EngineSpec[]> {
  const rows = await selectRows<StoredEngine>(db, {
    name: 'list-open-engines',
    text: `select engine_id, kind, base_url, key_name, concurrency from engines
      where engine_id in (select unnest(engine_ids) from runs where finished_at is null) order by engine_id`,
  });
  return rows.map((row) => ({
    engineId: row.engine_id,
    kind: row.kind,
    baseUrl: row.base_url,
    apiKeyEnv: row.key_name,
    concurrency: row.concurrency === 'auto' ? 'auto' : Number(row.concurrency),
  }));
}

/**
 * Hands out no call of an engine for `pauseMs` from now. A pause is never shortened by a shorter one.
 * Recorded as an engine event.
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
        returning engine_id, paused_until)
      insert into engine_events (engine_id, run_id, kind, reason, detail)
      select engine_id, $4, 'paused', $3, paused_until::text from paused`,
    values: [engineId, pauseMs, escapeText(reason), runId],
  });
}

/** How long the engine is still paused, in ms; 0 = it is not. Slot suppliers ask this. */
export async function loadPauseMs(db: Db, engineId: string): Promise<number> {
  const [row] = await selectRows<{ pause_ms: number }>(db, {
    name: 'load-pause',
    text: `select greatest(0, coalesce(extract(epoch from paused_until - clock_timestamp()) * 1000, 0))::float8
      as pause_ms from engines where engine_id = $1`,
    values: [engineId],
  });
  return row?.pause_ms ?? 0;
}

type StoredEngine = {
  readonly engine_id: string;
  readonly kind: string;
  readonly base_url: string | null;
  readonly key_name: string | null;
  readonly concurrency: string;
};
