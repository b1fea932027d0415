import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type pg from 'pg';
import type { AssayConnection } from '../../src/client/connect.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPool } from '../../src/store/pool.ts';
import { findProcesses } from '../crash/processes.ts';
import { createNamespace } from '../support/assay.ts';
import { connectTestTemporal, createTestDatabase } from '../support/stack.ts';
import { createHost, type WorkerHost } from './worker-host.ts';

/** What the hosts of one test share: a folder, a database and a namespace of their own. */
export type HostServices = {
  readonly folder: string;
  /** An empty folder in it, for what agents, tools and graders write down. */
  readonly marks: string;
  readonly db: pg.Pool;
  readonly client: Client;
  readonly connection: AssayConnection;
  /** A host that is not started yet, in a folder of this name. */
  readonly createHost: (name: string) => WorkerHost;
  /** Kills the hosts and what they left running, and removes everything. */
  readonly close: () => Promise<void>;
};

export async function openHostServices(name: string): Promise<HostServices> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `assay-${name}-`)));
  chmodSync(folder, 0o755);
  const marks = join(folder, 'marks');
  mkdirSync(marks);
  const database = await createTestDatabase();
  const temporal = await connectTestTemporal();
  const namespace = await createNamespace(temporal);
  const client = new Client({ connection: temporal.connection, namespace });
  const db = createPool(database.databaseUrl, { maxConnections: 5 });
  await migrate(db);
  const { databaseUrl } = database;
  const services = { databaseUrl, temporalAddress: temporal.temporalAddress, namespace };
  const hosts: WorkerHost[] = [];
  return {
    folder,
    marks,
    db,
    client,
    connection: { db, temporal: async () => client, close: async () => undefined },
    createHost: (place) => {
      const host = createHost(join(folder, place), services);
      hosts.push(host);
      return host;
    },
    close: async () => {
      await Promise.all(hosts.map((host) => host.kill()));
      for (const { pid } of findProcesses(folder)) process.kill(pid, 'SIGKILL');
      await db.end();
      await temporal.close();
      await database.drop();
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
