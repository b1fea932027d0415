import pg from 'pg';
import { rememberStoreError, StoreError } from './store-error.ts';

/** What store functions need: a pool, or a client inside a transaction. */
export type Db = {
  query: <Row extends pg.QueryResultRow>(config: pg.QueryConfig) => Promise<pg.QueryResult<Row>>;
};

/** What a function needs that runs several statements as one. */
export type TransactionalDb = Db & { connect: () => Promise<pg.PoolClient> };

const parsers: ReadonlyMap<number, (text: string) => unknown> = new Map([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
]);

const types = {
  getTypeParser: (oid: number, format?: 'text' | 'binary'): unknown =>
    parsers.get(oid) ?? pg.types.getTypeParser(oid, format),
} as pg.CustomTypesConfig;

/**
 * Opens a pool on `databaseUrl` with at most `maxConnections` (20) connections. `int8` and `numeric` columns
 * come as numbers, times as `Date`. Connecting is tried for 10 s; nothing connects before the first query.
 * A connection that breaks while idle is dropped silently: the next query opens another.
 */
export function createPool(databaseUrl: string, { maxConnections = 20 } = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: maxConnections,
    types,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    application_name: 'assay',
    options: '-c search_path=public -c client_min_messages=warning',
  });
  pool.on('error', () => undefined);
  // A connection that breaks between two statements of a transaction: the next of them says so.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const query = pool.query.bind(pool) as (...statement: unknown[]) => Promise<unknown>;
  const remembering = (...statement: unknown[]) => query(...statement).catch(rememberStoreError);
  return Object.assign(pool, { query: remembering as typeof pool.query });
}

/** Throws one readable error, with the address but no password in it, when Postgres cannot be reached. */
export async function checkDatabase(db: Db, databaseUrl: string): Promise<void> {
  try {
    await db.query({ text: 'select 1' });
  } catch (error) {
    throw new StoreError(
      `Postgres at ${describeAddress(databaseUrl)} cannot be used: ${toText(error)}. ` +
        'Start it, or correct DATABASE_URL; without DATABASE_URL Assay starts its own.',
      { cause: error },
    );
  }
}

/** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
export async function inTransaction<T>(db: TransactionalDb, work: (client: Db) => Promise<T>): Promise<T> {
  const client = await db.connect();
  let broken: Error | undefined;
  try {
    await client.query('begin');
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((failure: Error) => (broken = failure));
    throw error;
  } finally {
    client.release(broken);
  }
}

/** The rows of a statement; the statement is prepared once a connection when it has a name. */
export async function selectRows<Row extends pg.QueryResultRow>(
  db: Db,
  config: pg.QueryConfig,
): Promise<Row[]> {
  return (await db.query<Row>(config)).rows;
}

/** The only row of a statement that always has one. */
export async function selectRow<Row extends pg.QueryResultRow>(db: Db, config: pg.QueryConfig): Promise<Row> {
  const row = (await db.query<Row>(config)).rows[0];
  if (row === undefined)
    throw new Error(`A statement that always gives a row gave none: ${config.name ?? config.text}`);
  return row;
}

function describeAddress(databaseUrl: string): string {
  try {
    const { host, pathname } = new URL(databaseUrl);
    return `${host}${pathname}`;
  } catch {
    return 'the address in DATABASE_URL (which is not a URL)';
  }
}

/** A connection refused on several addresses is an AggregateError without a message of its own. */
function toText(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return toText(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
