import { join } from 'node:path';
import { lock } from 'proper-lockfile';
import { StackError, codeOf } from './stack-error.ts';

/** A lock of a killed process is taken over after this time. */
const staleMs = 5000;
const patienceMs = 300_000;

/**
 * Runs `work` while no other process starts or stops parts of this stack. Waits up to five minutes for another
 * process (it may be loading the server), a few seconds for the lock of a killed one.
 */
export async function withStackLock<T>(dataDir: string, work: () => Promise<T>): Promise<T> {
  const release = await takeLock(dataDir);
  try {
    return await work();
  } finally {
    // A lock that was taken over while this process stood still is not ours to release.
    await release().catch(() => undefined);
  }
}

async function takeLock(dataDir: string): Promise<() => Promise<void>> {
  const pauseMs = 100;
  try {
    return await lock(dataDir, {
      lockfilePath: join(dataDir, 'stack.lock'),
      stale: staleMs,
      update: 1000,
      retries: { retries: patienceMs / pauseMs, factor: 1, minTimeout: pauseMs, maxTimeout: pauseMs },
      onCompromised: () => undefined,
    });
  } catch (error) {
    if (codeOf(error) !== 'ELOCKED') throw error;
    throw new StackError(
      `Another assay command has been starting or stopping the stack in ${dataDir} for ${patienceMs / 60_000} minutes. ` +
        'End that command, then run this one again.',
      { cause: error },
    );
  }
}
