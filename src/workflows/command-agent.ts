import type { RunAgentInput, SessionRef } from '../domain/step.ts';
import type { AttemptLimits } from '../domain/suite.ts';
import { externalAgent, nameTry } from './activities.ts';
import type { LoopEnd } from './agent-loop.ts';
import { untilTaken } from './on-host.ts';
import type { TryPlace } from './try.ts';

/** The run of an external agent in its session: one activity, from its start to its recorded end. */
export async function runAgent(
  place: TryPlace,
  session: SessionRef,
  { attemptTimeMs }: AttemptLimits,
): Promise<Exclude<LoopEnd, { kind: 'continue' }>> {
  const { harness } = place.input.request;
  const agentMs = harness.kind === 'command' ? harness.timeoutMs : Infinity;
  const timeoutMs = Math.min(agentMs, attemptTimeMs ?? Infinity);
  const agent: RunAgentInput = { cell: place.cell, tryNumber: place.tryNumber, session };
  const result = await untilTaken(session, { step: null, agent }, () =>
    externalAgent(session.hostId, { summary: nameTry(place), timeoutMs }).runAgent(agent),
  );
  if (result.kind === 'stopped') return result;
  if (result.kind === 'held') return { kind: 'held', untilMs: Date.now() + result.waitMs };
  return { kind: 'over', end: result.end, answerDigest: result.answerDigest };
}
