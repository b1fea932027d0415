import * as workflow from '@temporalio/workflow';
import { formatAttemptKey } from '../domain/ids.ts';
import type { AgentEnd, Phase } from '../domain/outcome.ts';
import type { SessionRef } from '../domain/step.ts';
import { cleanup, closing, grading, opening } from './activities.ts';
import { FIRST_STEP, runLoop } from './agent-loop.ts';
import { describeFault } from './describe-fault.ts';
import { runAgent } from './command-agent.ts';
import { ANOTHER_STEP, HostLost, untilTaken } from './on-host.ts';
import type { AgentState, TryEnd, TryPlace } from './try.ts';

type Over = Extract<TryEnd, { kind: 'over' }>;
type Failure = Extract<AgentEnd, { kind: 'failed' }>;

/**
 * One try in a session: open and prepare, run the loop or the external agent, look at the agent's files,
 * with evaluation `reuse` grade in the session, close. The session is closed in every end but one: when the workflow is
 * about to continue as new, it stays open and travels in the state.
 */
export async function runHeavyTry(place: TryPlace, resumed: AgentState | null): Promise<TryEnd> {
  const sessionId = toSessionId(place);
  let { session, limits } = resumed ?? { session: null, limits: place.input.request.limits };
  let mustClose = place.input.request.environmentKind !== 'none';
  let lost = false;
  try {
    if (resumed === null) {
      const request = { cell: place.cell, tryNumber: place.tryNumber, sessionId };
      const opened = await opening(place.input.request.environmentKind).openSession(request);
      if (opened.kind === 'failed') return toOver(opened.end, null);
      ({ session, limits } = opened);
    }
    const end =
      session !== null && place.input.request.harness.kind === 'command'
        ? await runAgent(place, session, limits)
        : await runLoop(place, { session, limits, progress: resumed?.progress ?? FIRST_STEP });
    if (end.kind === 'stopped' || end.kind === 'held') return end;
    if (end.kind === 'continue') {
      mustClose = false;
      return { kind: 'continue', state: { session, limits, progress: end.progress } };
    }
    const over = toOver(end.end, end.answerDigest);
    return session === null ? over : await finish(place, session, over);
  } catch (error) {
    if (!(error instanceof HostLost)) throw error;
    lost = true;
    return toOver(error.end, null);
  } finally {
    const left = { sessionId, session, lost };
    if (mustClose) await workflow.CancellationScope.nonCancellable(() => close(place, left));
  }
}

const toSessionId = (place: TryPlace): string => `${formatAttemptKey(place.cell)}/t${place.tryNumber}`;

const toOver = (end: AgentEnd, answerDigest: string | null): Over => ({
  kind: 'over',
  end,
  answerDigest,
  sessionScoresDigest: null,
});

/** What is left to do with the agent's files while they are there; of a failed run they are kept, not graded. */
async function finish(place: TryPlace, session: SessionRef, over: Over): Promise<Over> {
  const { request } = place.input;
  if (over.end.kind === 'failed' && over.end.reason.code === 'environment_lost') return over;
  const failure = request.collects ? await collect(place, session) : null;
  if (over.end.kind === 'failed') {
    if (failure !== null) await warn(place, 'collect', failure.reason.message);
    return over;
  }
  if (failure !== null) return toOver(failure, over.answerDigest);
  if (!request.sessionScorers || request.evaluation !== 'reuse') return over;
  return { ...over, ...(await evaluate(place, { over, session })) };
}

async function collect(place: TryPlace, session: SessionRef): Promise<Failure | null> {
  const { cell, tryNumber } = place;
  try {
    const collected = await untilTaken(session, ANOTHER_STEP, () =>
      grading(session.hostId, "keep the agent's files").collect({ cell, tryNumber, session }),
    );
    return collected.kind === 'collected'
      ? null
      : { kind: 'failed', outcome: 'infra', reason: collected.reason };
  } catch (error) {
    return toFailure('collect', 'collect_failed', error);
  }
}

export type Graded = Pick<Over, 'sessionScoresDigest' | 'gradingFailure'>;

/** Grades in the task session, or in a session of its own that is opened wherever there is room for one. */
export async function evaluate(
  place: TryPlace,
  {
    over,
    session,
    evaluation = 1,
  }: { readonly over: Over; readonly session: SessionRef | null; readonly evaluation?: number },
): Promise<Graded> {
  const { cell, tryNumber, input } = place;
  const evaluationId = `${toSessionId(place)}/eval-${evaluation}`;
  const stored = input.graded === true ? { stored: true as const } : {};
  const request = { cell, tryNumber, session, evaluationId, answerDigest: over.answerDigest, ...stored };
  try {
    const graded =
      session === null
        ? await opening(input.request.environmentKind).evaluate(request)
        : await untilTaken(session, ANOTHER_STEP, () => grading(session.hostId).evaluate(request));
    return graded.kind === 'graded'
      ? { sessionScoresDigest: graded.scoresDigest, gradingFailure: null }
      : { sessionScoresDigest: null, gradingFailure: graded.reason };
  } catch (error) {
    const { reason } = toFailure('evaluate', 'grading_failed', error);
    return { sessionScoresDigest: null, gradingFailure: reason };
  }
}

/** A step that never got through; a cancellation is none. */
function toFailure(phase: Phase, code: string, error: unknown): Failure {
  if (workflow.isCancellation(error)) throw error;
  if (error instanceof HostLost && error.end.kind === 'failed')
    return { ...error.end, reason: { ...error.end.reason, phase } };
  const lost =
    error instanceof workflow.ActivityFailure &&
    error.cause instanceof workflow.ApplicationFailure &&
    error.cause.type === 'EnvironmentLost';
  const message = describeFault(error);
  const reason = { code: lost ? 'environment_lost' : code, phase, message };
  return { kind: 'failed', outcome: 'infra', reason };
}

/** A failed close is a recorded warning: the reaper removes what is left. A host that is gone is not asked again. */
async function close(
  place: TryPlace,
  left: { readonly sessionId: string; readonly session: SessionRef | null; readonly lost: boolean },
): Promise<void> {
  const { cell } = place;
  const { sessionId, session, lost } = left;
  try {
    const found = session ?? (await closing.findSession({ runId: cell.runId, sessionId }));
    if (found === null) return;
    if (lost) throw new Error('its host is gone');
    await untilTaken(found, ANOTHER_STEP, () => cleanup(found.hostId).closeSession({ session: found }));
  } catch (error) {
    const message = `session ${sessionId} was not closed; the reaper will remove it: ${describeFault(error)}`;
    await warn(place, 'cleanup', message);
  }
}

async function warn({ cell, tryNumber }: TryPlace, phase: Phase, message: string): Promise<void> {
  workflow.log.warn(message);
  await closing.noteWarning({ cell, tryNumber, phase, message });
}
