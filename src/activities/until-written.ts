import { setTimeout as delay } from 'node:timers/promises';
import { isStoreError } from '../store/store-error.ts';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;

/**
 * Repeats a write until the store takes it: for what was paid for and must not be lost while Postgres is
 * away. Ends with the write's own error when the step is cancelled meanwhile, or when the store refuses.
 */
export const untilWritten = <T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  repeat(write, (error) => signal.aborted || isRefusal(error));

/** Repeats a step while the store fails it; every other error of the step is its own. */
export const untilStoreIsBack = <T>(step: () => Promise<T>, signal: AbortSignal): Promise<T> =>
  repeat(step, (error) => signal.aborted || !isStoreAway(error));

async function repeat<T>(step: () => Promise<T>, isFinal: (error: unknown) => boolean): Promise<T> {
  for (let waitMs = FIRST_DELAY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_DELAY_MS)) {
    try {
      return await step();
    } catch (error) {
      if (isFinal(error)) throw error;
      await delay(waitMs);
    }
  }
}

/** Class 22 (bad data), 23 (constraint), 42 (bad statement) and our own AS: another try says the same. */
export const isRefusal = (error: unknown): boolean => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^(22|23|42|AS)/.test(code);
};

/** The store failed a step, and another try of it may find it there: nothing is said about what the step was for. */
export const isStoreAway = (error: unknown): boolean => isStoreError(error) && !isRefusal(error);
