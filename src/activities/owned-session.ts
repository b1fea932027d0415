import type { Cell } from '../domain/ids.ts';
import type { SessionSpec } from '../domain/run.ts';
import type { SessionRef } from '../domain/step.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import {
  markSessionClosed,
  markSessionOpened,
  planSession,
  retainSession,
  type SessionRow,
} from '../store/sessions.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { toOpenRequest } from './open-environment.ts';
import { executionIdOf, workflowIdOf } from './workflow-id.ts';

/** A session with an owner: its row is written before the provider is asked, and says how it ended. */
export type OwnedSession = {
  readonly sessionId: string;
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly purpose: SessionRow['purpose'];
  readonly environment: SessionSpec;
};

/** In the baseline policy. A session of the same name that a cut-off delivery left is closed first. */
export async function openOwned(
  dependencies: Dependencies,
  { sessionId, cell, tryNumber, purpose, environment }: OwnedSession,
): Promise<EnvironmentSession> {
  const { db, hostId } = dependencies;
  const { kind, keepMs } = environment;
  const workflowId = workflowIdOf();
  const executionId = executionIdOf();
  const intent = { sessionId, key: cell, tryNumber, purpose, kind, hostId, workflowId, executionId, keepMs };
  const planned = await planSession(db, intent);
  if (planned === 'over') throw fatal('EnvironmentLost', `session ${sessionId} has been closed`);
  const provider = dependencies.environmentFor(kind);
  if (planned === 'again') {
    await dependencies.mcp.close(sessionId);
    await provider.close({ sessionId, kind, hostId, root: '' });
  }
  const session = await provider.open(toOpenRequest(environment, { sessionId, cell, phase: 'baseline' }));
  await markSessionOpened(db, session);
  return session;
}

/**
 * Inner to outer: the servers that work in it, then the session; one that is to be kept stays. A server that cannot
 * be ended keeps no session open. Idempotent.
 */
export async function closeOwned(dependencies: Dependencies, session: SessionRef): Promise<void> {
  try {
    await dependencies.mcp.close(session.sessionId);
  } finally {
    await closeOrKeep(dependencies, session);
  }
}

async function closeOrKeep(dependencies: Dependencies, session: SessionRef): Promise<void> {
  if (await retainSession(dependencies.db, session.sessionId)) {
    dependencies.onSessionKept(session);
    return;
  }
  await dependencies.environmentFor(session.kind).close(session);
  await markSessionClosed(dependencies.db, session);
}
