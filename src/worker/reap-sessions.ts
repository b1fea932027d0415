import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { reapHostSessions } from '../environments/reaper.ts';
import type { CountedEnvironment } from './counted-environments.ts';
import type { EnvironmentProvider } from '../environments/environment.ts';
import { listLiveSessions, markSessionClosed, type SessionRow } from '../store/sessions.ts';
import type { Db } from '../store/pool.ts';

export type Reaping = {
  readonly client: Client;
  readonly db: Db;
  readonly environments: readonly CountedEnvironment[];
  readonly hostId: string;
  readonly logger: Logger;
};

/**
 * Removes this host's sessions whose workflow has ended, or that no row of the store knows. Rows are written
 * before sessions are opened and read after they are listed, so that a session in the making is never taken
 * for an orphan. Removes nothing when Temporal or the store cannot be asked.
 */
export async function reapSessions({ client, db, environments, hostId, logger }: Reaping): Promise<void> {
  const owners = new Map<string, Promise<boolean>>();
  const isOwned = async (row: SessionRow): Promise<boolean> => {
    // What is kept belongs to a person, until its time is over.
    if (row.state === 'retained') return !row.expired;
    const known = owners.get(row.workflowId) ?? isRunning(client, row.workflowId);
    owners.set(row.workflowId, known);
    return await known;
  };
  const isOpen = async (sessionId: string): Promise<boolean> => {
    const rows = await listLiveSessions(db, { hostId });
    const row = rows.find((one) => one.sessionId === toOwnerSession(sessionId));
    // A scorer's copy is never kept.
    if (row === undefined || (row.state === 'retained' && row.sessionId !== sessionId)) return false;
    return await isOwned(row);
  };
  const problems: unknown[] = [];
  for (const { provider: environment, slots } of environments) {
    // What cannot be asked for its sessions, such as an engine that is away, keeps them.
    if ((await environment.describe()).problem !== null) continue;
    const reaping = reapHostSessions({ environment, isOpen: ({ sessionId }) => isOpen(sessionId) });
    const closed = await reaping.catch((error: unknown) => (problems.push(error), []));
    for (const handle of closed) {
      await markSessionClosed(db, handle);
      logger.info({ sessionId: handle.sessionId }, 'removed a session whose owner has ended');
    }
    await closeVanished({ db, hostId, environment }, isOwned);
    await recount({ db, hostId, environment: { provider: environment, slots } });
  }
  if (problems.length > 0) throw problems[0];
}

/** Rows of sessions that nobody owns and that are not there: the row was all that was left. */
async function closeVanished(
  place: { readonly db: Db; readonly hostId: string; readonly environment: EnvironmentProvider },
  isOwned: (row: SessionRow) => Promise<boolean>,
): Promise<void> {
  const { db, hostId, environment } = place;
  const rows = (await listLiveSessions(db, { hostId })).filter(({ kind }) => kind === environment.kind);
  if (rows.length === 0) return;
  const there = new Set((await environment.listSessions()).map(({ sessionId }) => sessionId));
  for (const row of rows) {
    if (!there.has(row.sessionId) && !(await isOwned(row))) await markSessionClosed(db, row);
  }
}

/** Places of this host are taken by what is there and not kept for a person. */
export async function recount(counting: {
  readonly db: Db;
  readonly hostId: string;
  readonly environment: CountedEnvironment;
}): Promise<void> {
  const { provider, slots } = counting.environment;
  if ((await provider.describe()).problem !== null) return;
  const asOfMs = Date.now();
  const rows = await listLiveSessions(counting.db, { hostId: counting.hostId });
  const kept = new Set(rows.filter(({ state }) => state === 'retained').map(({ sessionId }) => sessionId));
  const there = (await provider.listSessions()).map(({ sessionId }) => sessionId);
  slots.recount(
    there.filter((id) => !kept.has(id) && toOwnerSession(id) === id),
    asOfMs,
  );
}

/** A grader's session is named after the session whose files it copies. */
const toOwnerSession = (sessionId: string): string => sessionId.replace(/\/grade-\d+$/, '');

async function isRunning(client: Client, workflowId: string): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(workflowId).describe();
    return status.name === 'RUNNING' || status.name === 'CONTINUED_AS_NEW';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

/** Ends what commands of a dead worker left running on this host; their calls are answered by the ledger. */
export async function endLeftProcesses(
  environments: readonly CountedEnvironment[],
  logger: Logger,
): Promise<void> {
  for (const { provider: environment } of environments) {
    if ((await environment.describe()).problem !== null) continue;
    for (const handle of await environment.listSessions()) {
      if (!(await environment.endLeftProcesses(handle))) continue;
      const { sessionId } = handle;
      logger.info({ sessionId }, 'ended the processes that a former worker left in a session');
    }
  }
}
