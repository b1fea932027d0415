import { setTimeout as sleep } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import { comeBack } from './failure.ts';

/** A pause of the whole engine is longer, and takes no slot. */
export const LONGEST_WAIT_HERE_MS = 60_000;

/** Waits with the call's slot; a worker that ends does not. */
export async function waitHere(waitMs: number): Promise<void> {
  const { cancellationSignal: signal } = Context.current();
  const end = Date.now() + waitMs;
  await sleep(waitMs, undefined, { signal }).catch(() => undefined);
  if (Date.now() < end) throw comeBack(end - Date.now(), 'waiting: retry');
}
