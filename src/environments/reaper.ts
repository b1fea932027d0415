import type { EnvironmentProvider, SessionHandle } from './environment.ts';

/**
 * Closes the sessions of this host whose owner has ended and returns them.
 * `isOpen` is asked about all of them first; when it throws for one, nothing is removed and the error goes
 * to the caller. A session that cannot be closed does not keep others; the first such error is thrown last.
 */
export async function reapHostSessions(reaping: {
  readonly environment: EnvironmentProvider;
  /** Whether the owner of the session, a workflow, is still running. */
  readonly isOpen: (handle: SessionHandle) => Promise<boolean>;
}): Promise<readonly SessionHandle[]> {
  const { environment, isOpen } = reaping;
  const ended: SessionHandle[] = [];
  for (const handle of await environment.listSessions()) {
    if (!(await isOpen(handle))) ended.push(handle);
  }
  const closed: SessionHandle[] = [];
  const problems: unknown[] = [];
  for (const handle of ended) {
    await environment.close(handle).then(
      () => closed.push(handle),
      (error: unknown) => problems.push(error),
    );
  }
  await environment.removeLeftovers();
  if (problems.length > 0) throw problems[0];
  return closed;
}
