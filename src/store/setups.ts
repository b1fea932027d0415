import { toDigest } from './blobs.ts';
import type { Db, TransactionalDb } from './pool.ts';
import { inTransaction, selectRows } from './pool.ts';

type RequestAddress = { readonly runId: string; readonly requestIndex: number };

/**
 * Changes what the answers of a request depend on beside the cases (its setups, one a model), and with them the
 * fingerprints of its tasks. A change that was made before makes no difference.
 */
export async function changeSetups(
  db: TransactionalDb,
  request: RequestAddress,
  change: (setup: string) => string,
): Promise<void> {
  await inTransaction(db, async (client) => {
    for (const { digest, setup } of await listSetups(client, request)) {
      const changed = change(setup);
      const next = toDigest(Buffer.from(changed));
      if (next !== digest) await replaceSetup(client, request, { digest, next, changed });
    }
  });
}

const listSetups = (
  db: Db,
  { runId, requestIndex }: RequestAddress,
): Promise<{ readonly digest: string; readonly setup: string }[]> =>
  selectRows(db, {
    text: `select digest, plan as setup from plans where digest in (
        select distinct setup_digest from tasks where run_id = $1 and request_index = $2)`,
    values: [runId, requestIndex],
  });

async function replaceSetup(
  db: Db,
  { runId, requestIndex }: RequestAddress,
  { digest, next, changed }: { readonly digest: string; readonly next: string; readonly changed: string },
): Promise<void> {
  await db.query({
    text: 'insert into plans (digest, plan) values ($1, $2) on conflict do nothing',
    values: [next, changed],
  });
  await db.query({
    text: `update tasks set setup_digest = $4 where run_id = $1 and request_index = $2 and setup_digest = $3`,
    values: [runId, requestIndex, digest, next],
  });
}
