import type { AgentEnd, Phase } from '../domain/outcome.ts';
import type { AttemptPlan } from '../domain/plan.ts';
import { redactJson } from '../domain/redact.ts';
import type { CloseSessionInput, OpenSessionInput, OpenSessionResult, SessionRef } from '../domain/step.ts';
import { recordAttemptPlan } from '../store/attempt-plans.ts';
import { listLiveSessions } from '../store/sessions.ts';
import type { Dependencies } from './dependencies.ts';
import { withHeartbeat } from './heartbeat.ts';
import { openServers, type ToolPlace } from './mcp-tools.ts';
import { McpServerError } from '../tools/mcp-connection.ts';
import { closeOwned, openOwned } from './owned-session.ts';
import { prepareCase } from './prepare-case.ts';
import type { CellPlace } from './run-reader.ts';
import { isStoreAway } from './until-written.ts';
import { withinSetUp } from './within-set-up.ts';

/** Sessions of environments: open with the case's files, close. All idempotent. */
export const createSessions = (dependencies: Dependencies) => ({
  openSession: (input: OpenSessionInput): Promise<OpenSessionResult> =>
    withHeartbeat((signal) => open(dependencies, input, signal)),

  closeSession: ({ session }: CloseSessionInput): Promise<void> =>
    withHeartbeat(() => closeOwned(dependencies, session)),

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
  const { cell, tryNumber } = input;
  const place = await dependencies.runs.find(cell);
  const { environment } = place.request.spec;
  const where = { place, cell, tryNumber };
  const plan = redactJson(toAttemptPlan(place), dependencies.redact) as AttemptPlan;
  await recordAttemptPlan(dependencies.db, cell, plan);
  if (environment.kind === 'none') {
    const trouble = await startServers(dependencies, { ...where, session: null }, signal);
    return trouble ?? { kind: 'opened', session: null, limits: place.limits };
  }
  let phase: OpenFailure = { phase: 'open', code: 'open_failed' };
  const setUp = async (): Promise<OpenSessionResult> => {
    const session = await openOwned(dependencies, { ...input, purpose: 'task', environment });
    phase = { phase: 'prepare', code: 'prepare_failed' };
    const trouble = await prepareCase(dependencies, { session, testCase: place.testCase, signal });
    if (trouble !== null) return failed('prepare', 'setup_failed', dependencies.redact(trouble));
    phase = { phase: 'start', code: 'start_failed' };
    const unserved = await startServers(dependencies, { ...where, session }, signal);
    if (unserved !== null) return unserved;
    phase = { phase: 'start', code: 'network_not_switched' };
    await session.setNetwork(environment.network.run);
    return { kind: 'opened', session: session.handle, limits: place.limits };
  };
  try {
    return await withinSetUp(dependencies, setUp);
  } catch (error) {
    if (signal.aborted || isStoreAway(error)) throw error;
    const message = dependencies.redact(error instanceof Error ? error.message : String(error));
    return failed(phase.phase, phase.code, message);
  }
}

function toAttemptPlan({ model, provider, request, limits, scorers }: CellPlace): AttemptPlan {
  const { modelIds: _models, suiteKey: _suite, limits: _limits, ...spec } = request.spec;
  const { suiteName, suiteVersion, suiteDigest } = request;
  const suite = { suiteName, suiteVersion, suiteDigest };
  return { format: 1, model, provider, request: spec, suite, limits, scorers };
}

type OpenFailure = { readonly phase: Phase; readonly code: string };

/** Null = every server runs and its tools are known. */
async function startServers(
  dependencies: Dependencies,
  where: ToolPlace,
  signal: AbortSignal,
): Promise<Extract<OpenSessionResult, { kind: 'failed' }> | null> {
  try {
    await openServers(dependencies, where, signal);
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof McpServerError)) throw error;
    return failed('start', 'mcp_server', dependencies.redact(error.message));
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
