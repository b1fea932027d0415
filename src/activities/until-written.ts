import { setTimeout as delay } from 'node:timers/promises';

const FIRST_DELAY_MS = 200;
const LONGEST_DELAY_MS = 5_000;

/**
 * Repeats a write until the store takes it: for what was paid for and must not be lost while Postgres is
 * away. Ends with the write's own error when the step is cancelled meanwhile, or when the store refuses.
 */
export async function untilWritten<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = FIRST_DELAY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_DELAY_MS)) {
    try {
      return await write();
    } catch (error) {
      if (signal.aborted || isRefusal(error)) throw error;
      await delay(waitMs);
    }
  }
}

/** Class 22 (bad data), 23 (constraint), 42 (bad statement) and our own AS: another try says the same. */
export const isRefusal = (error: unknown): boolean => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return /^(22|23|42|AS)/.test(code);
};
