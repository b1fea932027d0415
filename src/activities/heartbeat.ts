import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 3_000;

/**
 * Runs a step while telling the server that it lives, and hands it a signal that aborts when the step is
 * cancelled. A worker that shuts down is no cancellation: the step goes on until the worker's force time.
 */
export const withHeartbeat = <T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  beatDuring(step, ({ workerShutdown }) => !workerShutdown);

/**
 * As `withHeartbeat`, for a step with effects: a server that gave it up, after a sleep of the machine or a time-out,
 * does not end it. What it does is recorded, and its next delivery finds that.
 */
export const untilCancelled = <T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> =>
  beatDuring(step, ({ cancelRequested }) => cancelRequested);

type Details = { readonly workerShutdown: boolean; readonly cancelRequested: boolean };

async function beatDuring<T>(
  step: (signal: AbortSignal) => Promise<T>,
  ends: (details: Details) => boolean,
): Promise<T> {
  const context = Context.current();
  const cut = new AbortController();
  const onAbort = (): void => {
    const details = context.cancellationDetails ?? { workerShutdown: false, cancelRequested: true };
    if (ends(details)) cut.abort(context.cancellationSignal.reason);
  };
  context.cancellationSignal.addEventListener('abort', onAbort, { once: true });
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await step(cut.signal);
  } finally {
    clearInterval(beat);
    context.cancellationSignal.removeEventListener('abort', onAbort);
  }
}
