import type { AgentEnd, Phase } from '../domain/outcome.ts';
import { redactJson } from '../domain/redact.ts';
import type { Score } from '../domain/score.ts';
import type {
  CloseSessionInput,
  EvaluateInput,
  EvaluateResult,
  OpenSessionInput,
  OpenSessionResult,
  SessionRef,
} from '../domain/step.ts';
import type { TestCase } from '../domain/suite.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import { listLiveSessions, markSessionClosed, markSessionOpened, planSession } from '../store/sessions.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { judge, loadAnswer, toScore } from './grading.ts';
import { withHeartbeat } from './heartbeat.ts';
import { toOpenRequest } from './open-environment.ts';
import { placeOfScorer } from './run-code.ts';
import { workflowIdOf } from './workflow-id.ts';

const SETUP_TIMEOUT_MS = 300_000;

/** Sessions of environments: open with the case's files, grade in a copy, close. All idempotent. */
export const createSessions = (dependencies: Dependencies) => ({
  openSession: (input: OpenSessionInput): Promise<OpenSessionResult> =>
    withHeartbeat((signal) => open(dependencies, input, signal)),

  evaluate: (input: EvaluateInput): Promise<EvaluateResult> =>
    withHeartbeat((signal) => evaluate(dependencies, input, signal)),

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
  if (environment.kind === 'none') return { kind: 'opened', session: null, limits: place.limits };
  const provider = dependencies.environmentFor(environment.kind);
  const { hostId, db } = dependencies;
  const workflowId = workflowIdOf();
  const intent = { sessionId, key: cell, tryNumber, kind: environment.kind, hostId, workflowId };
  await planSession(db, { ...intent, purpose: 'task' });
  try {
    const session = await provider.open(toOpenRequest(environment, { sessionId, cell, phase: 'baseline' }));
    await markSessionOpened(db, { sessionId, root: session.handle.root });
    const trouble = await prepareCase(dependencies, { session, testCase: place.testCase, signal });
    if (trouble !== null) return failed('prepare', 'setup_failed', dependencies.redact(trouble));
    await session.setNetwork(environment.network.run);
    return { kind: 'opened', session: session.handle, limits: place.limits };
  } catch (error) {
    if (signal.aborted) throw error;
    return failed('open', 'open_failed', error instanceof Error ? error.message : String(error));
  }
}

const failed = (phase: Phase, code: string, message: string): OpenSessionResult => {
  const end: AgentEnd = { kind: 'failed', outcome: 'infra', reason: { code, phase, message } };
  return { kind: 'failed', end };
};

/** Files, then setup. Returns what went wrong, or null. */
async function prepareCase(
  { blobs }: Dependencies,
  facts: { readonly session: EnvironmentSession; readonly testCase: TestCase; readonly signal: AbortSignal },
): Promise<string | null> {
  const { session, testCase, signal } = facts;
  for (const [path, digest] of Object.entries(testCase.files)) {
    await session.writeFile(path, await blobs.load(digest));
  }
  if (testCase.setup === null) return null;
  const result = await session.exec(
    { command: testCase.setup, timeoutMs: SETUP_TIMEOUT_MS, stdin: null, cwd: null, variables: {} },
    signal,
  );
  if (result.timedOut) {
    return `setup of case "${testCase.id}" hit its limit of ${SETUP_TIMEOUT_MS / 1000} s (measured ${Math.round(result.durationMs / 1000)} s)`;
  }
  if (result.exitCode === 0) return null;
  const how = result.spawnError ?? `exit code ${result.exitCode ?? result.signal}`;
  return `setup of case "${testCase.id}" failed with ${how}: ${result.output.slice(-500)}`;
}

/** Ends the agent's processes, grades in a copy of its files with the session closed, and keeps the scores. */
async function evaluate(
  dependencies: Dependencies,
  input: EvaluateInput,
  signal: AbortSignal,
): Promise<EvaluateResult> {
  const { cell, session } = input;
  const place = await dependencies.runs.find(cell);
  const provider = dependencies.environmentFor(session.kind);
  const agentSession = await provider.attach(session);
  if (agentSession === null)
    throw fatal('EnvironmentLost', `session ${session.sessionId} is not on this host any more`);
  await agentSession.endProcesses();
  const { text } = await loadAnswer(dependencies, input.answerDigest);
  const target = await dependencies.runs.target(cell);
  const { module } = place.plan.spec;
  const specs = place.scorers.filter((spec) => placeOfScorer(module, spec.kind) === 'session');
  const scores: Score[] = [];
  for (const [index, spec] of specs.entries()) {
    const sessionId = `${session.sessionId}/grade-${index + 1}`;
    const { environment } = place.request.spec;
    if (environment.kind === 'none') throw fatal('EnvironmentLost', 'the request has no environment');
    const request = toOpenRequest(environment, { sessionId, cell, phase: 'evaluation' });
    const copy = await provider.copy(agentSession, request);
    try {
      scores.push(
        toScore(spec, await judge(dependencies, { spec, place, target, text, session: copy, signal })),
      );
    } finally {
      await provider.close(copy.handle);
    }
  }
  signal.throwIfAborted();
  const scoresDigest = await dependencies.blobs.saveJson(redactJson(scores, dependencies.redact));
  await close(dependencies, session);
  return { scoresDigest };
}

async function close(dependencies: Dependencies, session: SessionRef): Promise<void> {
  await dependencies.environmentFor(session.kind).close(session);
  await markSessionClosed(dependencies.db, session.sessionId);
}
