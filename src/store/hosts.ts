import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';

/** A host that was heard of within this time lives. */
const LEASE_S = 60;

/** Says that a host's worker lives. */
export async function sayHostLives(db: Db, hostId: string): Promise<void> {
  await db.query({
    name: 'say-host-lives',
    text: `insert into hosts (host_id, seen_at) values ($1, clock_timestamp())
      on conflict (host_id) do update set seen_at = excluded.seen_at`,
    values: [hostId],
  });
}

export async function isHostAlive(db: Db, hostId: string): Promise<boolean> {
  const row = await selectRow<{ alive: boolean }>(db, {
    text: `select exists (select from hosts
      where host_id = $1 and seen_at > clock_timestamp() - make_interval(secs => $2)) as alive`,
    values: [hostId, LEASE_S],
  });
  return row.alive;
}
