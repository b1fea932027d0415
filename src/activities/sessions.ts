import type { AgentEnd, Phase } from '../domain/outcome.ts';
import type { CloseSessionInput, OpenSessionInput, OpenSessionResult, SessionRef } from '../domain/step.ts';
import {
  listLiveSessions,
  markSessionClosed,
  markSessionOpened,
  planSession,
  retainSession,
} from '../store/sessions.ts';
import type { Dependencies } from './dependencies.ts';
import { withHeartbeat } from './heartbeat.ts';
import { openServers, type ToolPlace } from './mcp-tools.ts';
import { McpServerError } from '../tools/mcp-connection.ts';
import { toOpenRequest } from './open-environment.ts';
import { prepareCase } from './prepare-case.ts';
import { workflowIdOf } from './workflow-id.ts';

/** Sessions of environments: open with the case's files, close. All idempotent. */
export const createSessions = (dependencies: Dependencies) => ({
  openSession: (input: OpenSessionInput): Promise<OpenSessionResult> =>
    withHeartbeat((signal) => open(dependencies, input, signal)),

  closeSession: ({ session }: CloseSessionInput): Promise<void> =>
    withHeartbeat(() => close(dependencies, session)),

  /** Where a session is, or was about to be, that its workflow has no handle of. */
  async findSession(wanted: {
    readonly runId: string;
    readonly sessionId: string;
  }): Promise<SessionRef | null> {
    const live = await listLiveSessions(dependencies.db, { runId: wanted.runId });
    const row = live.find((one) => one.sessionId === wanted.sessionId);
    if (row === undefined) return null;
    return { sessionId: row.sessionId, kind: row.kind, hostId: row.hostId, root: row.root ?? '' };
  },
});

async function open(
  dependencies: Dependencies,
  input: OpenSessionInput,
  signal: AbortSignal,
): Promise<OpenSessionResult> {
  const { cell, tryNumber, sessionId } = input;
  const place = await dependencies.runs.find(cell);
  const { environment } = place.request.spec;
  const where = { place, cell, tryNumber };
  if (environment.kind === 'none') {
    const trouble = await startServers(dependencies, { ...where, session: null });
    return trouble ?? { kind: 'opened', session: null, limits: place.limits };
  }
  const provider = dependencies.environmentFor(environment.kind);
  const { hostId, db } = dependencies;
  const workflowId = workflowIdOf();
  const { kind, keepMs } = environment;
  const intent = { sessionId, key: cell, tryNumber, kind, hostId, workflowId, keepMs };
  await planSession(db, { ...intent, purpose: 'task' });
  try {
    const session = await provider.open(toOpenRequest(environment, { sessionId, cell, phase: 'baseline' }));
    await markSessionOpened(db, { sessionId, root: session.handle.root, resources: session.enforced });
    const trouble = await prepareCase(dependencies, { session, testCase: place.testCase, signal });
    if (trouble !== null) return failed('prepare', 'setup_failed', dependencies.redact(trouble));
    const unserved = await startServers(dependencies, { ...where, session });
    if (unserved !== null) return unserved;
    await session.setNetwork(environment.network.run);
    return { kind: 'opened', session: session.handle, limits: place.limits };
  } catch (error) {
    if (signal.aborted) throw error;
    return failed('open', 'open_failed', error instanceof Error ? error.message : String(error));
  }
}

/** Null = every server runs and its tools are known. */
async function startServers(
  dependencies: Dependencies,
  where: ToolPlace,
): Promise<Extract<OpenSessionResult, { kind: 'failed' }> | null> {
  try {
    await openServers(dependencies, where);
    return null;
  } catch (error) {
    if (!(error instanceof McpServerError)) throw error;
    return failed('open', 'mcp_server', dependencies.redact(error.message));
  }
}

const failed = (
  phase: Phase,
  code: string,
  message: string,
): Extract<OpenSessionResult, { kind: 'failed' }> => {
  const end: AgentEnd = { kind: 'failed', outcome: 'infra', reason: { code, phase, message } };
  return { kind: 'failed', end };
};

async function close(dependencies: Dependencies, session: SessionRef): Promise<void> {
  await dependencies.mcp.close(session.sessionId);
  if (await retainSession(dependencies.db, session.sessionId)) {
    dependencies.onSessionKept(session);
    return;
  }
  await dependencies.environmentFor(session.kind).close(session);
  await markSessionClosed(dependencies.db, session.sessionId);
}
