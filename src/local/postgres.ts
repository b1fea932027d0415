import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { localPasswordFile } from './data-folder.ts';
import { startPart, waitUntilReady } from './part-process.ts';
import { findFreePort, isPortFree } from './port.ts';
import { postgresAccount } from './postgres-account.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { clearFormerServer, ensureCluster, postgresEnvironment, readPassword } from './postgres-cluster.ts';
import type { Cluster } from './postgres-cluster.ts';
import { findClusterFolder } from './postgres-place.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { StackError } from './stack-error.ts';

/** A running Postgres of the local stack. */
export type RunningPostgres = {
  readonly process: ProcessIdentity;
  readonly port: number;
  readonly databaseUrl: string;
};

/** `port` is the one that it had before, taken again when it is free; null for the first start. */
export type PostgresOptions = { readonly dataDir: string; readonly port: number | null };

/**
 * Starts Postgres on a loopback port with its data in the data folder, and waits until it answers.
 * Throws a StackError that says what to do.
 */
export async function startPostgres({
  dataDir: givenDataDir,
  port,
}: PostgresOptions): Promise<RunningPostgres> {
  const dataDir = realpathSync(givenDataDir);
  const account = postgresAccount();
  const cluster: Cluster = {
    folder: findClusterFolder(dataDir, account),
    passwordFile: localPasswordFile(dataDir),
    account,
    binaries: findPostgresBinaries(account),
  };
  await clearFormerServer(cluster.folder);
  await ensureCluster(cluster);
  for (let triesLeft = 20; ; triesLeft -= 1) {
    try {
      const freePort = port !== null && (await isPortFree(port)) ? port : await findFreePort();
      return await startOnce({ dataDir, cluster, port: freePort });
    } catch (error) {
      if (triesLeft === 0 || !passesByItself(error)) throw error;
      await sleep(500);
    }
  }
}

/** The user's address of the local database. */
export function localDatabaseUrl(dataDir: string, port: number): string {
  return `postgres://assay:${readPassword(localPasswordFile(dataDir))}@127.0.0.1:${port}/postgres`;
}

/** Connects once and asks for the version, for example "18.4". Throws what `pg` throws. */
export async function openDatabase(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
    return rows[0]?.server_version ?? '';
  } finally {
    await client.end().catch(() => undefined);
  }
}

type Start = { readonly dataDir: string; readonly cluster: Cluster; readonly port: number };

async function startOnce({ dataDir, cluster, port }: Start): Promise<RunningPostgres> {
  const part = await startPart({
    name: 'Postgres',
    command: cluster.binaries.postgres,
    args: ['-D', cluster.folder, ...settings(port).flatMap((setting) => ['-c', setting])],
    environment: postgresEnvironment,
    cwd: cluster.folder,
    logFile: join(dataDir, 'logs', 'postgres.log'),
    account: cluster.account,
  });
  const databaseUrl = localDatabaseUrl(dataDir, port);
  await waitUntilReady(part, { probe: () => openDatabase(databaseUrl), timeoutMs: 120_000 });
  return { process: part.process, port, databaseUrl };
}

/**
 * `fsync` and `synchronous_commit` stay on: a completion is shown only when it is on the disk, and a killed Postgres
 * loses nothing that was confirmed. The rest is small memory and no replication, which one machine does not need.
 */
function settings(port: number): string[] {
  return [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    'unix_socket_directories=',
    'max_connections=200',
    'fsync=on',
    'synchronous_commit=on',
    'shared_buffers=128MB',
    'wal_level=minimal',
    'max_wal_senders=0',
    'max_wal_size=1GB',
    'checkpoint_timeout=15min',
    'max_parallel_workers_per_gather=0',
    'jit=off',
    'io_method=sync',
    'log_checkpoints=off',
    'log_timezone=UTC',
    'timezone=UTC',
  ];
}

/** Two things pass: processes of a killed server that are still ending, and a port that was taken a moment ago. */
function passesByItself(error: unknown): boolean {
  const passing =
    /pre-existing shared memory block|lock file "postmaster.pid" already exists|could not bind|Address already in use/i;
  return error instanceof StackError && passing.test(error.message);
}
