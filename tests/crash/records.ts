import pg from 'pg';
import { localDatabaseUrl } from '../../src/local/postgres.ts';
import { readStackFile } from '../../src/local/stack-file.ts';
import type { CallRow } from './findings.ts';

export type ToolRow = {
  readonly caseId: string;
  readonly state: 'started' | 'completed';
  readonly executions: number;
};

export type AttemptRow = {
  readonly cell: string;
  readonly outcome: string | null;
  readonly reasonCode: string | null;
  readonly detail: string | null;
};

/** What the store holds of a run; `state` is null while the run has no row. */
export type Records = {
  readonly state: string | null;
  readonly calls: readonly CallRow[];
  readonly attempts: readonly AttemptRow[];
  readonly tools: readonly ToolRow[];
};

const CALLS = `select model_id || '/' || case_id || '/' || step as call, request_number, c.state,
    extract(epoch from started_at)::float8 * 1000 as started, extract(epoch from finished_at)::float8 * 1000 as finished
  from model_calls c join tasks using (run_id, task, model_id) where run_id = $1`;
const ATTEMPTS = `select model_id || '/' || case_id || '/' || attempt || '/' || generation as cell, outcome, reason_code,
    detail from attempts join tasks using (run_id, task) where run_id = $1`;
const TOOLS = `select case_id, state, executions from tool_calls join tasks using (run_id, task) where run_id = $1`;

/** Whether the run has ended; false as well while the database cannot be asked. */
export async function hasEnded(dataDir: string, runId: string): Promise<boolean> {
  try {
    return await withDatabase(dataDir, async (db) => {
      const { rowCount } = await db.query('select from runs where run_id = $1 and finished_at is not null', [
        runId,
      ]);
      return rowCount === 1;
    });
  } catch {
    return false;
  }
}

/** Reads everything that a trial judges, with one connection of its own. */
export function loadRecords(dataDir: string, runId: string): Promise<Records> {
  return withDatabase(dataDir, async (db) => {
    const run = await db.query<{ state: string }>('select state from runs where run_id = $1', [runId]);
    const calls = await db.query<Record<string, never>>(CALLS, [runId]);
    const attempts = await db.query<Record<string, never>>(ATTEMPTS, [runId]);
    const tools = await db.query<Record<string, never>>(TOOLS, [runId]);
    return {
      state: run.rows[0]?.state ?? null,
      calls: calls.rows.map((row) => ({
        call: row['call'] ?? '',
        requestNumber: Number(row['request_number']),
        state: row['state'] ?? 'started',
        startedAtMs: Number(row['started']),
        finishedAtMs: row['finished'] === null ? null : Number(row['finished']),
      })),
      attempts: attempts.rows.map((row) => ({
        cell: row['cell'] ?? '',
        outcome: row['outcome'] ?? null,
        reasonCode: row['reason_code'] ?? null,
        detail: row['detail'] ?? null,
      })),
      tools: tools.rows.map((row) => ({
        caseId: row['case_id'] ?? '',
        state: row['state'] ?? 'started',
        executions: Number(row['executions']),
      })),
    };
  });
}

export async function withDatabase<T>(dataDir: string, work: (db: pg.Client) => Promise<T>): Promise<T> {
  const port = readStackFile(dataDir)?.postgres?.port;
  if (port === undefined) throw new Error(`no Postgres has been started in ${dataDir}`);
  const db = new pg.Client({
    connectionString: localDatabaseUrl(dataDir, port),
    connectionTimeoutMillis: 5_000,
  });
  db.on('error', () => undefined);
  await db.connect();
  try {
    return await work(db);
  } finally {
    await db.end();
  }
}
