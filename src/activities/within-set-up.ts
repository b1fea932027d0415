import type { Dependencies } from './dependencies.ts';

/** Below the time-out of the activities around it, so that the step itself says what took so long. */
const SET_UP_MS = 570_000;

/** Getting a session ready took longer than it may. What hangs is left behind; closing the session ends it. */
class SetUpTimeout extends Error {
  override readonly name = 'SetUpTimeout';
}

/** Rejects when getting a session ready takes longer than it may: what never answers keeps only its own cell. */
export async function withinSetUp<T>(
  { setUpMs = SET_UP_MS }: Pick<Dependencies, 'setUpMs'>,
  setUp: () => Promise<T>,
): Promise<T> {
  const startedAt = performance.now();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const tookMs = performance.now() - startedAt;
    late.reject(
      new SetUpTimeout(
        `the session was not ready within the limit of set-up, ${setUpMs / 1_000} s (measured ${(tookMs / 1_000).toFixed(1)} s)`,
      ),
    );
  }, setUpMs);
  try {
    return await Promise.race([setUp(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
