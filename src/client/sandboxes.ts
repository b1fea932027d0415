import { isHostAlive } from '../store/hosts.ts';
import { expireSessions, forgetSessions, listLiveSessions, type SessionRow } from '../store/sessions.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';

/** Sessions of environments that are not closed, the oldest first. */
export const listSandboxes = ({ db }: Pick<AssayConnection, 'db'>): Promise<readonly SessionRow[]> =>
  listLiveSessions(db);

/**
 * Lets kept sessions expire now; the worker of their host removes them at its next look, within a minute. No
 * ids = all that are kept. Throws a ClientError for an id that is not kept.
 */
export async function cleanSandboxes(
  { db }: AssayConnection,
  ids: readonly string[],
): Promise<readonly string[]> {
  const live = await listLiveSessions(db);
  for (const id of ids) {
    const row = live.find(({ sessionId }) => sessionId === id);
    if (row === undefined)
      throw new ClientError(`No session "${id}" is open or kept; \`assay sandbox list\` shows them.`);
    if (row.state !== 'retained') {
      throw new ClientError(
        `Session "${id}" is in use by a run: cancel that with \`assay cancel ${row.key.runId}\`.`,
      );
    }
  }
  const kept = live.filter(
    ({ state, sessionId }) => state === 'retained' && (ids.length === 0 || ids.includes(sessionId)),
  );
  const chosen = kept.map(({ sessionId }) => sessionId);
  await expireSessions(db, chosen);
  return chosen;
}

/**
 * Forgets the sessions, in use or kept, of a host that will not come back: nobody else can remove them. Throws a
 * ClientError while its worker lives, and for a host without a session.
 */
export async function forgetHost(
  { db }: Pick<AssayConnection, 'db'>,
  hostId: string,
): Promise<readonly string[]> {
  if (await isHostAlive(db, hostId)) {
    throw new ClientError(
      `The worker of host "${hostId}" lives, and removes what nobody owns by itself: \`assay sandbox clean\` ends what is kept.`,
    );
  }
  const forgotten = await forgetSessions(db, hostId);
  if (forgotten.length === 0)
    throw new ClientError(`Host "${hostId}" has no session; \`assay sandbox list\` shows those that have.`);
  return forgotten;
}
