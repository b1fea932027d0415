import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import { reapHostSessions } from '../environments/reaper.ts';
import type { HostEnvironment } from '../environments/host.ts';
import { endRecordedProcesses } from '../environments/host-session.ts';
import { listLiveSessions, markSessionClosed } from '../store/sessions.ts';
import type { Db } from '../store/pool.ts';

export type Reaping = {
  readonly client: Client;
  readonly db: Db;
  readonly host: HostEnvironment;
  readonly hostId: string;
  readonly logger: Logger;
};

/**
 * Removes this host's sessions whose workflow has ended. Sessions that the store does not know were made by
 * this installation's graders or for a database that is gone: their workflow has ended by definition once
 * their own session is gone. Removes nothing when Temporal or the store cannot be asked.
 */
export async function reapSessions({ client, db, host, hostId, logger }: Reaping): Promise<void> {
  const rows = await listLiveSessions(db, { hostId });
  const owners = new Map(rows.map((row) => [row.sessionId, row.workflowId]));
  const open = new Map<string, Promise<boolean>>();
  const isOpen = (workflowId: string): Promise<boolean> => {
    const known = open.get(workflowId) ?? isRunning(client, workflowId);
    open.set(workflowId, known);
    return known;
  };
  const closed = await reapHostSessions({
    environment: host,
    isOpen: async ({ sessionId }) => {
      const owner = owners.get(toOwnerSession(sessionId));
      return owner !== undefined && (await isOpen(owner));
    },
  });
  for (const { sessionId } of closed) {
    await markSessionClosed(db, sessionId);
    logger.info({ sessionId }, 'removed a session whose owner has ended');
  }
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
export async function endLeftProcesses(host: HostEnvironment, logger: Logger): Promise<void> {
  for (const handle of await host.listSessions()) {
    await endRecordedProcesses(handle);
    logger.info({ sessionId: handle.sessionId }, 'ended the processes that a former worker left in a session');
  }
}
