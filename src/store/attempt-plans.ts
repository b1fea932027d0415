import type { AttemptPlan } from '../domain/plan.ts';
import type { AttemptKey } from '../domain/ids.ts';
import { toJsonBlob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';

/** Keeps what an attempt is to be made of, before it opens anything; equal plans once. The first one is its tries'. */
export async function recordAttemptPlan(db: Db, key: AttemptKey, plan: AttemptPlan): Promise<void> {
  const { digest, bytes } = toJsonBlob(plan);
  await db.query({
    name: 'record-attempt-plan',
    text: `with kept as (insert into plans (digest, plan) values ($5, $6) on conflict do nothing)
      update attempts set plan_digest = $5
      where run_id = $1 and task = $2 and attempt = $3 and generation = $4 and plan_digest is null`,
    values: [key.runId, key.task, key.attempt, key.generation, digest, Buffer.from(bytes).toString('utf8')],
  });
}

/** Null when there is no such plan. */
export async function loadAttemptPlan(db: Db, digest: string): Promise<AttemptPlan | null> {
  const [row] = await selectRows<{ plan: string }>(db, {
    text: 'select plan from plans where digest = $1',
    values: [digest],
  });
  return row === undefined ? null : (JSON.parse(row.plan) as AttemptPlan);
}
