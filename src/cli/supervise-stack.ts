import { setTimeout as sleep } from 'node:timers/promises';
import { repairStack, type StackOptions } from '../local/stack.ts';

const LOOK_MS = 1_000;
const AFTER_FAILURE_MS = 5_000;

/**
 * While a command watches a run, parts of the local stack that have died are started again. What was stopped
 * on purpose stays stopped. Resolves once the signal is given; never rejects.
 */
export async function superviseStack(
  options: StackOptions,
  { signal, notice }: { readonly signal: AbortSignal; readonly notice: (text: string) => void },
): Promise<void> {
  const wait = (ms: number): Promise<unknown> => sleep(ms, undefined, { signal }).catch(() => undefined);
  await wait(LOOK_MS);
  while (!signal.aborted) {
    try {
      if (await repairStack({ ...options, note: notice })) notice('The stack runs again.');
      await wait(LOOK_MS);
    } catch (error) {
      notice(error instanceof Error ? error.message : String(error));
      await wait(AFTER_FAILURE_MS);
    }
  }
}
