import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { Db, TransactionalDb } from './pool.ts';
import { inTransaction, selectRows } from './pool.ts';
import { StoreError } from './store-error.ts';

/** One numbered step of the schema. */
export type Migration = {
  readonly number: number;
  readonly name: string;
  readonly digest: string;
  readonly sql: string;
};

/** What the database has, against what this program brings. */
export type MigrationStatus = { readonly applied: number; readonly known: number };

const folder = new URL('./migrations/', import.meta.url);

/** Any constant does, as long as nothing else locks the same one. */
const LOCK = 4_157_009_001;

/**
 * Brings the schema up to date in one transaction, under an advisory lock, so that several processes may
 * call it at once. Returns the number of migrations applied now. Throws one readable error when an applied
 * migration differs from this program's, or when the database is newer than this program.
 */
export async function migrate(db: TransactionalDb): Promise<number> {
  const known = await loadMigrations();
  return inTransaction(db, async (client) => {
    await client.query({ text: 'select pg_advisory_xact_lock($1)', values: [LOCK] });
    await client.query({
      text: `create table if not exists assay_migrations (
        number int primary key, name text not null, digest text not null,
        applied_at timestamptz not null default now())`,
    });
    const applied = await loadApplied(client);
    checkApplied(applied, known);
    const missing = known.slice(applied.length);
    for (const migration of missing) await apply(client, migration);
    return missing.length;
  });
}

/** How far the schema is, without changing it. */
export async function loadMigrationStatus(db: Db): Promise<MigrationStatus> {
  const known = await loadMigrations();
  const [row] = await selectRows<{ found: string | null }>(db, {
    text: `select to_regclass('assay_migrations')::text as found`,
  });
  return { applied: row?.found ? (await loadApplied(db)).length : 0, known: known.length };
}

async function loadMigrations(): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(
    names.map(async (name) => {
      const sql = await readFile(new URL(name, folder), 'utf8');
      return {
        number: Number(name.slice(0, 4)),
        name,
        digest: createHash('sha256').update(sql).digest('hex'),
        sql,
      };
    }),
  );
}

type Applied = { readonly number: number; readonly name: string; readonly digest: string };

const loadApplied = (db: Db): Promise<Applied[]> =>
  selectRows<Applied>(db, { text: 'select number, name, digest from assay_migrations order by number' });

function checkApplied(applied: readonly Applied[], known: readonly Migration[]): void {
  for (const [index, { number, name, digest }] of applied.entries()) {
    const mine = known[index];
    if (mine === undefined) {
      throw new StoreError(
        `The database is newer than this Assay: it has migration ${name}, this program ends at ` +
          `${known.at(-1)?.name ?? 'none'}. Use the newer Assay, or another database (DATABASE_URL) or data folder (ASSAY_DIR).`,
      );
    }
    if (mine.number !== number || mine.digest !== digest) {
      throw new StoreError(
        `Migration ${name} in the database is not the ${mine.name} of this Assay (digest ${digest.slice(0, 12)}, ` +
          `expected ${mine.digest.slice(0, 12)}). Use the Assay that made the database, or another database (DATABASE_URL) or data folder (ASSAY_DIR).`,
      );
    }
  }
}

async function apply(client: Db, { number, name, digest, sql }: Migration): Promise<void> {
  await client.query({ text: sql });
  await client.query({
    text: 'insert into assay_migrations (number, name, digest) values ($1, $2, $3)',
    values: [number, name, digest],
  });
}
