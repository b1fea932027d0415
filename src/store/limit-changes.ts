import type { LimitChange } from '../domain/limit-change.ts';
import type { Db, TransactionalDb } from './pool.ts';
import { inTransaction, selectRows } from './pool.ts';
import { escapeNullable, escapeText, unescapeNullable, unescapeText } from './text.ts';
import { RUN_CHANNEL } from './runs.ts';
import { setEngineConcurrency } from './engines.ts';
import { setSessionCapacity } from './session-limits.ts';

/** Who asked for a change and why; `key` names the message, so that it is recorded once. */
export type ChangeOrigin = {
  readonly runId: string;
  readonly key: string;
  readonly by: string | null;
  readonly note: string | null;
};

export type RecordedChange = LimitChange & {
  readonly by: string | null;
  readonly note: string | null;
  /** ISO 8601 in UTC. */
  readonly changedAt: string;
};

/** New limits that were refused as a whole; the message says which one, and what to do. */
export class LimitRefused extends Error {
  override readonly name = 'LimitRefused';
}

/** Records a change; the same message again records nothing more. */
export async function saveChange(db: Db, origin: ChangeOrigin, change: LimitChange): Promise<void> {
  await db.query({
    text: `insert into limit_changes (run_id, limit_name, old_value, new_value, reason, changed_by, change_key)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [
      origin.runId,
      escapeText(change.limit),
      escapeNullable(change.from),
      escapeNullable(change.to),
      escapeText(origin.note ?? ''),
      escapeNullable(origin.by),
      origin.key,
    ],
  });
}

/**
 * Changes limits of a run that goes on, all of them or none, and records each. `given` are those that others
 * hold (the run's workflow). Answers what has changed, and the same for the same message again. Throws a
 * LimitRefused for a cap that is lower than before, or that the run does not have.
 */
export async function changeLimits(
  db: TransactionalDb,
  change: {
    readonly origin: ChangeOrigin;
    readonly caps: { readonly [name: string]: number };
    readonly slots: readonly {
      readonly limit: string;
      readonly engineId: string;
      readonly concurrency: number | 'auto';
    }[];
    readonly sessions: { readonly [kind: string]: number | 'auto' };
    readonly given: readonly LimitChange[];
  },
): Promise<readonly LimitChange[]> {
  const { origin } = change;
  return inTransaction(db, async (client) => {
    const before = await listChanges(client, origin);
    if (before.length > 0) return before.map(({ limit, from, to }) => ({ limit, from, to }));
    const changes = [...change.given, ...(await raiseCaps(client, origin.runId, change.caps))];
    for (const one of changes) await saveChange(client, origin, one);
    for (const { limit, engineId, concurrency } of change.slots) {
      const { runId, by, key: changeKey } = origin;
      const reason = origin.note ?? 'set by hand';
      const from = await setEngineConcurrency(client, {
        engineId,
        concurrency,
        reason,
        runId,
        by,
        changeKey,
      });
      if (from !== String(concurrency)) changes.push({ limit, from, to: String(concurrency) });
    }
    for (const one of await setSessions(client, change.sessions)) {
      await saveChange(client, origin, one);
      changes.push(one);
    }
    await client.query({ text: `select pg_notify('${RUN_CHANNEL}', $1)`, values: [origin.runId] });
    return changes;
  });
}

async function setSessions(
  db: Db,
  sessions: { readonly [kind: string]: number | 'auto' },
): Promise<readonly LimitChange[]> {
  const changes: LimitChange[] = [];
  for (const [kind, capacity] of Object.entries(sessions)) {
    const from = await setSessionCapacity(db, { kind, capacity });
    if (from === null)
      throw new LimitRefused(
        `sessions.${kind}: no worker opens environment "${kind}"; \`assay doctor\` says what can be opened here`,
      );
    if (from !== String(capacity)) changes.push({ limit: `sessions.${kind}`, from, to: String(capacity) });
  }
  return changes;
}

async function raiseCaps(
  db: Db,
  runId: string,
  caps: { readonly [name: string]: number },
): Promise<LimitChange[]> {
  if (Object.keys(caps).length === 0) return [];
  try {
    return await selectRows<LimitChange>(db, {
      text: `select limit_name as limit, old_value as from, new_value as to from raise_caps($1, $2)`,
      values: [runId, JSON.stringify(caps)],
    });
  } catch (error) {
    const refused = error instanceof Error && 'code' in error && error.code === 'AS006';
    throw refused ? new LimitRefused(error.message, { cause: error }) : error;
  }
}

/** What was changed about a run, in order; with a key only what that message changed. */
export async function listChanges(
  db: Db,
  { runId, key }: { readonly runId: string; readonly key?: string },
): Promise<RecordedChange[]> {
  const rows = await selectRows<StoredChange>(db, {
    text: `select concat_ws('.', limit_name, engine_id) as limit_name, old_value, new_value, reason, changed_by, changed_at from limit_changes
      where run_id = $1 and ($2::text is null or change_key = $2) order by id`,
    values: [runId, key ?? null],
  });
  return rows.map((row) => ({
    limit: unescapeText(row.limit_name),
    from: unescapeNullable(row.old_value),
    to: unescapeNullable(row.new_value),
    by: unescapeNullable(row.changed_by),
    note: row.reason === '' ? null : unescapeText(row.reason),
    changedAt: row.changed_at.toISOString(),
  }));
}

type StoredChange = {
  readonly limit_name: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly reason: string;
  readonly changed_by: string | null;
  readonly changed_at: Date;
};
