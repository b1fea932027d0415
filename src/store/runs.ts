import type { RunState, TerminalState } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { escapeNullable, escapeText, unescapeNullable, unescapeText } from './text.ts';

export type RunRow = {
  readonly runId: string;
  readonly name: string;
  readonly state: RunState;
  /** The terminal state that is decided, perhaps before the run has ended. */
  readonly frozenState: TerminalState | null;
  /** Why it was stopped; while it waits, for what. */
  readonly reason: string | null;
  readonly generation: number;
  readonly workflowId: string;
  readonly documentDigest: string | null;
  readonly planDigest: string | null;
  /** Variables that it waits for, because no worker has a value. */
  readonly missingKeys: readonly string[];
  /** ISO 8601 in UTC. */
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
};

/** A cell that has no result although it was planned. */
export type MissingCell = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
};

export type RunEnd = {
  readonly state: RunState;
  readonly planned: number;
  readonly recorded: number;
  /** At most twenty. */
  readonly missing: readonly MissingCell[];
};

/** Channel on which the store says that a run's state has changed; the payload is the run's id. */
export const RUN_CHANNEL = 'assay_run';

/** Adds a run in state `preparing`; a run of that id that is there already stays as it is. */
export async function insertRun(
  db: Db,
  run: {
    readonly runId: string;
    readonly name: string;
    readonly documentDigest: string | null;
    readonly workflowId: string;
  },
): Promise<'created' | 'existing'> {
  const { rowCount } = await db.query({
    text: `with added as (
        insert into runs (run_id, name, document_digest, workflow_id) values ($1, $2, $3, $4)
        on conflict do nothing returning run_id)
      select pg_notify('${RUN_CHANNEL}', run_id) from added`,
    values: [run.runId, escapeText(run.name), run.documentDigest, run.workflowId],
  });
  return rowCount === 1 ? 'created' : 'existing';
}

const columns = `run_id, name, state, state_note, frozen_state, frozen_reason, generation, workflow_id, document_digest,
  plan_digest, missing_keys, created_at, started_at, finished_at`;

/** Null when there is no run of that id. */
export async function loadRun(db: Db, runId: string): Promise<RunRow | null> {
  const rows = await selectRows<StoredRun>(db, {
    name: 'load-run',
    text: `select ${columns} from runs where run_id = $1`,
    values: [runId],
  });
  return rows[0] === undefined ? null : toRunRow(rows[0]);
}

/** The newest runs first; `openOnly` leaves out those that have ended. */
export async function listRuns(
  db: Db,
  { limit = 100, openOnly = false }: { readonly limit?: number; readonly openOnly?: boolean } = {},
): Promise<RunRow[]> {
  const rows = await selectRows<StoredRun>(db, {
    text: `select ${columns} from runs ${openOnly ? 'where finished_at is null' : ''}
      order by created_at desc, run_id limit $1`,
    values: [limit],
  });
  return rows.map(toRunRow);
}

/**
 * Moves an open run to another open state, with what it waits for. A run that is frozen only goes on to
 * `finalizing`.
 */
export async function setRunState(
  db: Db,
  {
    runId,
    state,
    note = null,
  }: {
    readonly runId: string;
    readonly state: Exclude<RunState, TerminalState>;
    readonly note?: string | null;
  },
): Promise<boolean> {
  const { rowCount } = await db.query({
    text: `with changed as (
        update runs set state = $2, state_note = $3,
          started_at = case when $2 = 'running' then coalesce(started_at, now()) else started_at end
        where run_id = $1 and finished_at is null and state <> $2
          and (frozen_state is null or $2 = 'finalizing')
        returning run_id)
      select pg_notify('${RUN_CHANNEL}', run_id) from changed`,
    values: [runId, state, escapeNullable(note)],
  });
  return rowCount === 1;
}

/**
 * Decides how a run will end; from then on no model call is begun. The first decision wins.
 * Returns the state that is frozen, which may be another's.
 */
export async function freezeRun(
  db: Db,
  {
    runId,
    state,
    reason,
  }: { readonly runId: string; readonly state: TerminalState; readonly reason: string },
): Promise<TerminalState> {
  const row = await selectRow<{ frozen: TerminalState }>(db, {
    text: 'select freeze_run($1, $2, $3) as frozen',
    values: [runId, state, escapeText(reason)],
  });
  return row.frozen;
}

/**
 * Ends the given generation of a run. A run frozen as nothing is `completed` only when every planned cell is
 * recorded, else `failed` with up to twenty missing cells. Again, or for a generation that another has
 * followed: the present state, nothing changes.
 */
export async function finishRun(
  db: Db,
  {
    runId,
    generation,
    note = null,
  }: {
    readonly runId: string;
    readonly generation: number;
    /** What a completed run left out, and why. */
    readonly note?: string | null;
  },
): Promise<RunEnd> {
  const row = await selectRow<RunEnd>(db, {
    text: 'select state, planned, recorded, missing from finish_run($1, $2, $3)',
    values: [runId, generation, escapeNullable(note)],
  });
  const missing = row.missing.map((cell) => ({
    ...cell,
    modelId: unescapeText(cell.modelId),
    caseId: unescapeText(cell.caseId),
  }));
  return { state: row.state, planned: row.planned, recorded: row.recorded, missing };
}

type StoredRun = {
  readonly run_id: string;
  readonly name: string;
  readonly state: RunState;
  readonly state_note: string | null;
  readonly frozen_state: TerminalState | null;
  readonly frozen_reason: string | null;
  readonly generation: number;
  readonly workflow_id: string;
  readonly document_digest: string | null;
  readonly plan_digest: string | null;
  readonly missing_keys: string[];
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
};

const isWaiting = (state: RunState): boolean => state === 'awaiting_approval' || state === 'paused';

const toRunRow = (row: StoredRun): RunRow => ({
  runId: row.run_id,
  name: unescapeText(row.name),
  state: row.state,
  frozenState: row.frozen_state,
  reason: unescapeNullable(row.frozen_reason ?? (isWaiting(row.state) ? row.state_note : null)),
  generation: row.generation,
  workflowId: row.workflow_id,
  documentDigest: row.document_digest,
  planDigest: row.plan_digest,
  missingKeys: row.finished_at === null ? row.missing_keys : [],
  createdAt: row.created_at.toISOString(),
  startedAt: row.started_at?.toISOString() ?? null,
  finishedAt: row.finished_at?.toISOString() ?? null,
});
