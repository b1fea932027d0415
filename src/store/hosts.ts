import type { HostAbilities } from '../domain/environment-abilities.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';

/** A host that was heard of within this time lives. */
const LEASE_S = 60;

/** Says that a host's worker lives, and what its environments can do. */
export async function sayHostLives(db: Db, hostId: string, environments: HostAbilities): Promise<void> {
  await db.query({
    name: 'say-host-lives',
    text: `insert into hosts (host_id, seen_at, environments) values ($1, clock_timestamp(), $2)
      on conflict (host_id) do update set seen_at = excluded.seen_at, environments = excluded.environments`,
    values: [hostId, JSON.stringify(environments)],
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

export type LiveHost = { readonly hostId: string; readonly environments: HostAbilities };

/** Hosts whose worker lives, with what it said last; in a stable order. */
export async function listLiveHosts(db: Db): Promise<readonly LiveHost[]> {
  return await selectRows<LiveHost>(db, {
    text: `select host_id as "hostId", environments from hosts
      where seen_at > clock_timestamp() - make_interval(secs => $1) order by host_id`,
    values: [LEASE_S],
  });
}
