import { activityInfo } from '@temporalio/activity';
import type { Reason } from '../domain/outcome.ts';
import { redactJson } from '../domain/redact.ts';
import type { SessionSpec } from '../domain/run.ts';
import type { Score } from '../domain/score.ts';
import type { EvaluateInput, EvaluateResult } from '../domain/step.ts';
import type { ScorerSpec, Target } from '../domain/suite.ts';
import { SessionLostError, type EnvironmentSession } from '../environments/environment.ts';
import { listArtifacts } from '../store/artifacts.ts';
import { noteWarning } from '../store/attempt-warnings.ts';
import { loadBlobStream } from '../store/blob-streams.ts';
import type { Origin } from '../store/origins.ts';
import { findAnswered } from './answered.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { judge, loadAnswer, toScore } from './grading.ts';
import { withHeartbeat } from './heartbeat.ts';
import { toOpenRequest } from './open-environment.ts';
import { closeOwned, openOwned } from './owned-session.ts';
import { prepareCase } from './prepare-case.ts';
import { placeOfScorer } from './run-code.ts';
import type { CellPlace } from './run-reader.ts';
import { isStoreAway, untilStoreIsBack } from './until-written.ts';
import { withinSetUp } from './within-set-up.ts';

/**
 * Activity `evaluate`: the scorers that need a session, by evaluation mode. What keeps them from a
 * verdict is a result, for the attempt to decide on; a verdict is never made up.
 */
export const createEvaluating = (dependencies: Dependencies) => ({
  evaluate: (input: EvaluateInput): Promise<EvaluateResult> =>
    withHeartbeat((signal) => evaluate(dependencies, input, signal)),
});

type Grading = {
  readonly input: EvaluateInput;
  readonly answered: Origin;
  readonly place: CellPlace;
  readonly environment: SessionSpec;
  readonly specs: readonly ScorerSpec[];
  readonly target: Target | null;
  readonly text: string;
  readonly signal: AbortSignal;
};

async function evaluate(
  dependencies: Dependencies,
  input: EvaluateInput,
  signal: AbortSignal,
): Promise<EvaluateResult> {
  // In a task session a second delivery cannot grade: it is not for a store that is away for a moment.
  const grading = await untilStoreIsBack(() => toGrading(dependencies, input, signal), signal);
  const { evaluation } = grading.place.request.spec;
  try {
    const scores = await (evaluation === 'fresh' ? gradeInFresh : gradeInTask)(dependencies, grading);
    signal.throwIfAborted();
    const kept = redactJson(scores, dependencies.redact);
    const scoresDigest = await untilStoreIsBack(() => dependencies.blobs.saveJson(kept), signal);
    return { kind: 'graded', scoresDigest };
  } catch (error) {
    signal.throwIfAborted();
    if (isStoreAway(error)) throw error;
    return { kind: 'failed', reason: toReason(error, dependencies.redact) };
  }
}

async function toGrading(
  dependencies: Dependencies,
  input: EvaluateInput,
  signal: AbortSignal,
): Promise<Grading> {
  const { cell } = input;
  const place = await dependencies.runs.find(cell);
  const { environment } = place.request.spec;
  if (environment.kind === 'none') throw fatal('EnvironmentLost', 'the request has no environment');
  const { module } = place.plan.spec;
  const answered = await findAnswered(dependencies, input);
  return {
    input,
    answered,
    place,
    environment,
    specs: place.scorers.filter((spec) => placeOfScorer(module, spec.kind) === 'session'),
    target: await dependencies.runs.target(cell),
    text: (await loadAnswer(dependencies, answered.answerDigest)).text,
    signal,
  };
}

/** Why there is no verdict; the message says what to do. */
class GradingError extends Error {
  override readonly name = 'GradingError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

function toReason(error: unknown, redact: (text: string) => string): Reason {
  const message = redact(error instanceof Error ? error.message : String(error)).slice(0, 2_000);
  const code =
    error instanceof SessionLostError
      ? 'environment_lost'
      : error instanceof GradingError
        ? error.code
        : 'grading_failed';
  return { code, phase: 'evaluate', message };
}

/**
 * Mode `reuse`: the task session itself, in its evaluation network, once; on a host without isolation copies of its
 * files.
 */
async function gradeInTask(dependencies: Dependencies, grading: Grading): Promise<readonly Score[]> {
  const { session: ref } = grading.input;
  if (ref === null) throw new GradingError('environment_lost', 'there is no session to grade in');
  const provider = dependencies.environmentFor(ref.kind);
  const session = await provider.attach(ref);
  if (session === null)
    throw new GradingError('environment_lost', `session ${ref.sessionId} is not on its host any more`);
  if (ref.kind !== 'host' && activityInfo().attempt > 1) {
    const what = `grading in session ${ref.sessionId} was cut off, and may have changed the agent's files`;
    throw new GradingError('environment_lost', `${what}; \`assay retry\` runs the attempt again`);
  }
  await dependencies.mcp.close(ref.sessionId);
  await session.endProcesses();
  if (ref.kind === 'host') return await gradeInCopies(dependencies, grading, session);
  return await inEvaluationNetwork({ dependencies, grading, session }, () =>
    judgeAll(dependencies, grading, session),
  );
}

type InSession = {
  readonly dependencies: Dependencies;
  readonly grading: Grading;
  readonly session: EnvironmentSession;
};

/** The baseline comes back in every end, also when grading was cut off or its policy could not be set. */
async function inEvaluationNetwork<T>(
  { dependencies, grading, session }: InSession,
  work: () => Promise<T>,
): Promise<T> {
  const { network } = grading.environment;
  try {
    await session.setNetwork(network.evaluation);
    return await work();
  } finally {
    await orWarn(dependencies, grading, () => session.setNetwork(network.baseline));
  }
}

/** Each scorer gets a copy of its own: what one does to the files no other sees. */
async function gradeInCopies(
  dependencies: Dependencies,
  grading: Grading,
  session: EnvironmentSession,
): Promise<readonly Score[]> {
  const { environment, input } = grading;
  const provider = dependencies.environmentFor(environment.kind);
  const scores: Score[] = [];
  for (const [index, spec] of grading.specs.entries()) {
    const sessionId = `${session.handle.sessionId}/grade-${index + 1}`;
    const copy = await provider.copy(
      session,
      toOpenRequest(environment, { sessionId, cell: input.cell, phase: 'evaluation' }),
    );
    try {
      scores.push(...(await judgeAll(dependencies, { ...grading, specs: [spec] }, copy)));
    } finally {
      await orWarn(dependencies, grading, () => provider.close(copy.handle));
    }
  }
  return scores;
}

/** Mode `fresh`: a second session of the same plan, with the case's files and what the agent left. */
async function gradeInFresh(dependencies: Dependencies, grading: Grading): Promise<readonly Score[]> {
  const { environment, input } = grading;
  const { cell, tryNumber, evaluationId: sessionId } = input;
  const { hostId } = dependencies;
  const owned = { sessionId, cell, tryNumber, purpose: 'evaluation', environment } as const;
  try {
    const session = await withinSetUp(dependencies, () => openOwned(dependencies, owned));
    const { testCase } = grading.place;
    const trouble = await prepareCase(dependencies, { session, testCase, signal: grading.signal });
    if (trouble !== null) throw new GradingError('evaluation_setup_failed', trouble);
    return await inEvaluationNetwork({ dependencies, grading, session }, async () => {
      await restoreArtifacts(dependencies, grading, session);
      return await judgeAll(dependencies, grading, session);
    });
  } finally {
    const handle = { sessionId, kind: environment.kind, hostId, root: '' };
    await orWarn(dependencies, grading, () => closeOwned(dependencies, handle));
  }
}

/** To their own paths, before a grader looks; one that cannot be put back keeps the whole from being graded. */
async function restoreArtifacts(
  { db }: Dependencies,
  { answered }: Grading,
  session: EnvironmentSession,
): Promise<void> {
  for (const { path, digest } of await listArtifacts(db, answered)) {
    try {
      await session.upload(path, loadBlobStream(db, digest));
    } catch (error) {
      if (isStoreAway(error)) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new GradingError('artifact_not_restored', `"${path}" could not be put back for grading: ${why}`);
    }
  }
}

async function judgeAll(
  dependencies: Dependencies,
  { specs, place, target, text, signal }: Grading,
  session: EnvironmentSession,
): Promise<readonly Score[]> {
  const scores: Score[] = [];
  for (const spec of specs) {
    const verdict = await judge(dependencies, { spec, place, target, text, session, signal });
    scores.push(toScore(spec, verdict));
  }
  // A scorer whose session went away under it says "failed"; that is no verdict on the agent.
  if ((await dependencies.environmentFor(session.handle.kind).attach(session.handle)) === null)
    throw new GradingError(
      'environment_lost',
      `session ${session.handle.sessionId} was lost while it was graded in`,
    );
  return scores;
}

const CLEANUP_TIMEOUT_MS = 60_000;

/** Cleanup: no cancel reaches it, it has a time of its own, and its failure is a recorded warning. */
async function orWarn(
  { db, redact }: Dependencies,
  { input }: Grading,
  clean: () => Promise<unknown>,
): Promise<void> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`it took longer than ${CLEANUP_TIMEOUT_MS / 1_000} s`)),
    CLEANUP_TIMEOUT_MS,
  );
  try {
    await Promise.race([clean(), late]);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message = redact(`cleaning up after grading: ${why}`);
    const warning = { tryNumber: input.tryNumber, phase: 'cleanup', message } as const;
    await noteWarning(db, { key: input.cell, warning }).catch(() => undefined);
  } finally {
    clearTimeout(timer);
  }
}
