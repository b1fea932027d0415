import type { AttemptKey } from '../domain/ids.ts';
import type { Limit } from '../domain/outcome.ts';
import type { CommandRun } from '../domain/step.ts';
import { completeCall, type CallCompletion } from './model-calls.ts';
import type { Db, TransactionalDb } from './pool.ts';
import { inTransaction, selectRows } from './pool.ts';
import { escapeText, unescapeText } from './text.ts';

export type CommandRunKey = { readonly key: AttemptKey; readonly tryNumber: number };

/** What the store holds of the external agent of a try. */
export type StoredCommandRun =
  | { readonly state: 'none' }
  | { readonly state: 'started' | 'lost' | 'cancelled' }
  | { readonly state: 'completed'; readonly run: CommandRun };

export async function findCommandRun(db: Db, at: CommandRunKey): Promise<StoredCommandRun> {
  const [row] = await selectRows<{
    state: 'started' | 'completed' | 'lost' | 'cancelled';
    detail: string | null;
  }>(db, {
    name: 'find-command-run',
    text: `select state, detail from command_runs where ${AT_KEY}`,
    values: toKey(at),
  });
  if (row === undefined) return { state: 'none' };
  if (row.state !== 'completed') return { state: row.state };
  return { state: 'completed', run: JSON.parse(unescapeText(row.detail ?? 'null')) as CommandRun };
}

/** Writes the row of an agent before it is started. False = another delivery has written it. */
export async function startCommandRun(
  db: Db,
  { key, tryNumber, session }: CommandRunKey & { readonly session: { sessionId: string; hostId: string } },
): Promise<boolean> {
  const rows = await selectRows(db, {
    name: 'start-command-run',
    text: `insert into command_runs (run_id, task, attempt, generation, try_number, session_id, host_id)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing returning 1`,
    values: [...toKey({ key, tryNumber }), session.sessionId, session.hostId],
  });
  return rows.length > 0;
}

/** Keeps how an agent ended, and settles its call, as one. The first end counts. */
export const completeCommandRun = (
  db: TransactionalDb,
  { run, call, ...at }: CommandRunKey & { readonly run: CommandRun; readonly call: CallCompletion },
): Promise<void> =>
  inTransaction(db, async (client) => {
    await completeCall(client, call);
    await client.query({
      name: 'complete-command-run',
      text: `update command_runs set state = 'completed', detail = $6, answered = $7, finished_at = clock_timestamp()
        where ${AT_KEY} and state = 'started'`,
      values: [...toKey(at), escapeText(JSON.stringify(run)), toAnswer(run) !== null],
    });
  });

/** Nobody will hear how it ended: its worker was lost, or it was cancelled. */
export async function endCommandRun(db: Db, at: CommandRunKey, state: 'lost' | 'cancelled'): Promise<void> {
  await db.query({
    name: 'end-command-run',
    text: `update command_runs set state = $6, finished_at = clock_timestamp()
      where ${AT_KEY} and state = 'started'`,
    values: [...toKey(at), state],
  });
}

/** The answer of an agent that ended by itself or at a limit; null = it failed or was stopped. */
export function toAnswer({
  result,
}: CommandRun): { readonly answerDigest: string | null; readonly limit: Limit | null } | null {
  if (result.kind !== 'over' || result.end.kind !== 'ended') return null;
  return { answerDigest: result.answerDigest, limit: result.end.limit };
}

const AT_KEY = 'run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5';

const toKey = ({ key, tryNumber }: CommandRunKey): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  tryNumber,
];
