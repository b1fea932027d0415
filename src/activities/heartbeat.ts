import { Context } from '@temporalio/activity';

const HEARTBEAT_MS = 3_000;

/**
 * Runs a step while telling the server that it lives, and hands it a signal that aborts when the step is
 * cancelled. A worker that shuts down is no cancellation: the step goes on until the worker's force time.
 */
export async function withHeartbeat<T>(step: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const context = Context.current();
  const cut = new AbortController();
  const onAbort = (): void => {
    if (context.cancellationDetails?.workerShutdown !== true) cut.abort(context.cancellationSignal.reason);
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
