import { randomBytes } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import pg from 'pg';
import { inject } from 'vitest';

/** An empty database of its own for one test file. */
export type TestDatabase = { readonly databaseUrl: string; readonly drop: () => Promise<void> };

/** Makes an empty database in the Postgres of this test run. `drop` also ends connections that are still open. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const serverUrl = inject('databaseUrl');
  const name = `test_${randomBytes(6).toString('hex')}`;
  await runStatement(serverUrl, `CREATE DATABASE ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    databaseUrl: url.href,
    drop: () => runStatement(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`),
  };
}

/** Connections to the Temporal server of this test run: for clients, and for workers; `close` closes both. */
export type TestTemporal = {
  readonly temporalAddress: string;
  readonly connection: Connection;
  readonly nativeConnection: NativeConnection;
  readonly namespace: string;
  readonly close: () => Promise<void>;
};

/** Connects to the Temporal server of this test run. Tests keep apart by workflow ids and task queues of their own. */
export async function connectTestTemporal(
  temporalAddress = inject('temporalAddress'),
): Promise<TestTemporal> {
  const connection = await Connection.connect({ address: temporalAddress });
  const nativeConnection = await NativeConnection.connect({ address: temporalAddress });
  const close = async () => {
    await connection.close();
    await nativeConnection.close();
  };
  return { temporalAddress, connection, nativeConnection, namespace: 'default', close };
}

async function runStatement(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
