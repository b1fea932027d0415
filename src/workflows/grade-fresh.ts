import * as workflow from '@temporalio/workflow';
import { formatAttemptKey } from '../domain/ids.ts';
import { planTry, type DiscardedTries } from '../domain/retry-scope.ts';
import { drawFrom } from '../domain/stable-hash.ts';
import { planning } from './activities.ts';
import { evaluate } from './heavy-try.ts';
import type { PauseGate } from './pause-gate.ts';
import type { TryEnd, TryPlace } from './try.ts';

type Over = Extract<TryEnd, { kind: 'over' }>;

/** Where the tries of an attempt stand. */
export type Tries = { readonly tryNumber: number; readonly discarded: DiscardedTries };

/**
 * Evaluation `fresh`: grades what the agent left in a session of its own, again and again as the request allows. The
 * agent does not run again: its session is closed, and what it did is recorded. Waiting holds nothing.
 */
export async function gradeFresh(
  place: TryPlace,
  ran: { readonly over: Over; readonly tries: Tries },
  gate: PauseGate,
): Promise<Over> {
  const { request, run } = place.input;
  let { tryNumber, discarded } = ran.tries;
  for (let evaluation = 1; ; evaluation += 1) {
    const over = { ...ran.over, ...(await evaluate(place, { over: ran.over, session: null, evaluation })) };
    const next = planTry({
      result: { end: over.end, gradingFailure: over.gradingFailure ?? null },
      evaluation: request.evaluation,
      discarded,
      retries: request.retries,
      draw: drawFrom(`${formatAttemptKey(place.cell)}/t${tryNumber}`, run.execution.seed),
    });
    if (next.kind === 'final') return over;
    const { reason, scope, pattern, delayMs } = next;
    await planning.recordTry({ cell: place.cell, tryNumber, reason, scope, pattern });
    tryNumber += 1;
    discarded = next.discarded;
    await workflow.sleep(delayMs, { summary: `before try ${tryNumber}: grading alone` });
    if (gate.isClosed) await gate.pass();
  }
}
