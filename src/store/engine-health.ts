import { FIRST_HOLD_MS, type TripReason } from '../domain/breaker.ts';
import type { CallKey } from '../domain/ids.ts';
import type { Outcome, Reason } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { escapeText, unescapeNullable } from './text.ts';

/** An engine as the breaker knows it: calls of judges have one of their own. */
export type EngineRole = { readonly engineId: string; readonly role: 'agent' | 'judge' };

export const toRole = (purpose: string): EngineRole['role'] =>
  purpose.startsWith('judge/') ? 'judge' : 'agent';

/** Notes a sign of life. True = it is news, and the engine's other calls may start. */
export async function noteLife(
  db: Db,
  { engineId, role }: EngineRole,
  { runId }: { readonly runId: string },
): Promise<boolean> {
  const row = await selectRow<{ news: boolean }>(db, {
    name: 'note-life',
    text: 'select note_life($1, $2, $3) as news',
    values: [engineId, role, runId],
  });
  return row.news;
}

/** How long the first trip of an outage lasts; tests say less. */
export type HoldPace = { readonly firstHoldMs?: number };

/**
 * Opens the breaker of an engine: for good, or until the time that the provider said. Recorded for each open run
 * that calls the engine. False = it was open before.
 */
export async function tripEngine(
  db: Db,
  { engineId, role }: EngineRole,
  trip: { readonly reason: TripReason; readonly message: string; readonly resetMs: number | null },
): Promise<boolean> {
  const row = await selectRow<{ tripped: boolean }>(db, {
    text: 'select trip_engine($1, $2, $3, $4, true, $5, $6) as tripped',
    values: [engineId, role, trip.reason, escapeText(trip.message), trip.resetMs, FIRST_HOLD_MS],
  });
  return row.tripped;
}

/** Notes a call whose retries are used up. True = it has opened the breaker. */
export async function noteExhausted(
  db: Db,
  { engineId, role }: EngineRole,
  ended: { readonly message: string; readonly resetMs: number | null } & HoldPace,
): Promise<boolean> {
  const row = await selectRow<{ tripped: boolean }>(db, {
    text: 'select note_exhausted($1, $2, $3, $4, $5) as tripped',
    values: [engineId, role, escapeText(ended.message), ended.resetMs, ended.firstHoldMs ?? FIRST_HOLD_MS],
  });
  return row.tripped;
}

/** A call that was to find out about its engine has ended without a sign. */
export async function releaseProbe(db: Db, engineId: string, key: CallKey): Promise<void> {
  await db.query({
    text: 'select release_probe($1, $2, $3)',
    values: [engineId, toRole(key.purpose), toProbeName(key)],
  });
}

/** As `begin_call` names the call that finds out about an engine. */
const toProbeName = ({ runId, task, attempt, generation, tryNumber, purpose, step }: CallKey): string =>
  [runId, task, attempt, generation, tryNumber, escapeText(purpose), step].join('/');

/** Somebody starts or resumes a run: its engines that are down are asked once more. */
export async function resetEngines(
  db: Db,
  { runId, engineIds }: { readonly runId: string; readonly engineIds: readonly string[] },
): Promise<void> {
  await db.query({ text: 'select reset_engines($1, $2)', values: [runId, engineIds] });
}

/** A run is found to call these while it goes on: those that it did not know are asked once more. */
export async function watchEngines(
  db: Db,
  { runId, engineIds }: { readonly runId: string; readonly engineIds: readonly string[] },
): Promise<void> {
  await db.query({ text: 'select watch_engines($1, $2)', values: [runId, engineIds] });
}

/** Engines whose breaker is open for good, with what is said of each. */
export async function listDownEngines(
  db: Db,
  engineIds: readonly string[],
): Promise<readonly { readonly engineId: string; readonly reason: TripReason; readonly message: string }[]> {
  const rows = await selectRows<{ engine_id: string; reason: TripReason; message: string }>(db, {
    text: `select engine_id, reason, message from engine_health
      where engine_id = any ($1) and role = 'agent' and tripped_at is not null and half_open_at is null
      order by engine_id`,
    values: [engineIds],
  });
  return rows.map(({ engine_id, reason, message }) => ({
    engineId: engine_id,
    reason,
    message: unescapeNullable(message) ?? '',
  }));
}

/**
 * Gives each cell of these models and requests that has not started its outcome `not_run`, with zero tries: many rows in one
 * statement. Again: those that are left, which may be none. Returns how many.
 */
export async function blockCells(
  db: Db,
  blocked: {
    readonly runId: string;
    readonly generation: number;
    readonly engineId: string;
    readonly modelIds: readonly string[];
    /** Indices of the requests that call it. */
    readonly requests: readonly number[];
    readonly outcome: Outcome;
  },
): Promise<number> {
  const row = await selectRow<{ cells: number }>(db, {
    text: 'select block_cells($1, $2, $3, $4, $5, $6) as cells',
    values: [
      blocked.runId,
      blocked.generation,
      blocked.engineId,
      blocked.modelIds.map(escapeText),
      blocked.requests,
      JSON.stringify(blocked.outcome),
    ],
  });
  return row.cells;
}

/** Cells of a run that an engine has kept from running, by what was said of it. */
export async function listBlocked(
  db: Db,
  runId: string,
): Promise<readonly { readonly reason: Reason; readonly cells: number }[]> {
  const rows = await selectRows<{ detail: string; cells: number }>(db, {
    text: `select detail, count(*)::int as cells from latest_attempts
      where run_id = $1 and reason_code = 'engine_down' and outcome = 'not_run'
      group by detail order by count(*) desc, detail limit 10`,
    values: [runId],
  });
  return rows.map(({ detail, cells }) => ({
    reason: (JSON.parse(detail) as Exclude<Outcome, { kind: 'scored' }>).reason,
    cells,
  }));
}
