import * as workflow from '@temporalio/workflow';
import type { AgentEnd } from '../domain/outcome.ts';
import type { RunAgentInput, RunToolInput, SessionRef } from '../domain/step.ts';
import { planning } from './activities.ts';

/** The host of a session is gone, and the session with it. */
export class HostLost extends Error {
  override readonly name = 'HostLost';
  readonly end: AgentEnd;

  constructor(end: AgentEnd) {
    super('the host of the session is gone');
    this.end = end;
  }
}

/** What the host is to take up: a tool call, an external agent, or another step. */
export type Waiting = { readonly step: RunToolInput | null; readonly agent?: RunAgentInput };

export const ANOTHER_STEP: Waiting = { step: null };

/**
 * A step on the host of a session, sent again while the host's worker lives. Throws a HostLost when it does not take
 * the step up and no worker of it is known.
 */
export async function untilTaken<T>(
  session: SessionRef,
  waiting: Waiting,
  send: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!isNotTaken(error)) throw error;
      const found = await planning.findHost({ hostId: session.hostId, session, ...waiting });
      if (found.kind === 'lost') throw new HostLost(found.end);
    }
  }
}

const isNotTaken = (error: unknown): boolean =>
  error instanceof workflow.ActivityFailure &&
  error.cause instanceof workflow.TimeoutFailure &&
  error.cause.timeoutType === 'SCHEDULE_TO_START';
