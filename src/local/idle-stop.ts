import type { ProcessIdentity } from './process-identity.ts';

/** How long a stack runs on without an open run and without a connected client. */
export const idleStopMs = 15 * 60_000;

/** What the worker sees of its stack at one look. */
export type StackUse = {
  /** Since when nobody has used the stack; null when it was in use at the last look. */
  readonly idleSinceMs: number | null;
  readonly openRuns: number;
  readonly clients: number;
  /** The worker that `stack.json` names; null when the file is gone or names none. */
  readonly recordedWorker: ProcessIdentity | null;
  readonly thisWorker: ProcessIdentity;
};

/**
 * `stop_stack`: stop all parts. `stop_worker`: this worker is not the stack's any more (its file was removed, or names
 * another), so it ends alone. Else the state for the next look.
 */
export type IdleDecision =
  | { readonly kind: 'stop_stack' }
  | { readonly kind: 'stop_worker' }
  | { readonly kind: 'go_on'; readonly idleSinceMs: number | null };

/** Decides at each look (about every 10 s) whether the stack has been idle long enough. */
export function shouldStopIdle(use: StackUse, nowMs: number): IdleDecision {
  const { recordedWorker, thisWorker } = use;
  if (recordedWorker?.pid !== thisWorker.pid || recordedWorker.startTime !== thisWorker.startTime) {
    return { kind: 'stop_worker' };
  }
  if (use.openRuns > 0 || use.clients > 0) return { kind: 'go_on', idleSinceMs: null };
  // A clock that was set back starts the count again.
  const since = use.idleSinceMs === null || use.idleSinceMs > nowMs ? nowMs : use.idleSinceMs;
  return nowMs - since >= idleStopMs ? { kind: 'stop_stack' } : { kind: 'go_on', idleSinceMs: since };
}
