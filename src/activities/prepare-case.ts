import type { TestCase } from '../domain/suite.ts';
import type { EnvironmentSession } from '../environments/environment.ts';
import type { Dependencies } from './dependencies.ts';

const SETUP_TIMEOUT_MS = 300_000;

/** Files, then setup. Returns what went wrong, or null. */
export async function prepareCase(
  { blobs }: Dependencies,
  facts: { readonly session: EnvironmentSession; readonly testCase: TestCase; readonly signal: AbortSignal },
): Promise<string | null> {
  const { session, testCase, signal } = facts;
  for (const [path, digest] of Object.entries(testCase.files)) {
    signal.throwIfAborted();
    await session.writeFile(path, await blobs.load(digest));
  }
  signal.throwIfAborted();
  if (testCase.setup === null) return null;
  const result = await session.exec(
    { command: testCase.setup, timeoutMs: SETUP_TIMEOUT_MS, stdin: null, cwd: null, variables: {} },
    signal,
  );
  if (result.timedOut) {
    return `setup of case "${testCase.id}" hit its limit of ${SETUP_TIMEOUT_MS / 1000} s (measured ${Math.round(result.durationMs / 1000)} s)`;
  }
  if (result.exitCode === 0) return null;
  const how = result.spawnError ?? `exit code ${result.exitCode ?? result.signal}`;
  return `setup of case "${testCase.id}" failed with ${how}: ${result.output.slice(-500)}`;
}
