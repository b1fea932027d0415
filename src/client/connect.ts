import type { Client } from '@temporalio/client';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import type pg from 'pg';
import { migrate } from '../store/migrate.ts';
import { checkDatabase, createPool } from '../store/pool.ts';
import { ClientError } from './client-error.ts';

/** Where a client finds Assay. */
export type AssayAddresses = {
  readonly databaseUrl: string;
  /** Folder of the local stack, whose worker is handed keys. Left out = workers run elsewhere. */
  readonly dataDir?: string;
  /** Null = as Temporal's own variables and profile file say. */
  readonly temporal: { readonly address: string; readonly namespace: string } | null;
};

/** Postgres, and Temporal once somebody asks for it: looking at runs needs none. */
export type AssayConnection = {
  readonly db: pg.Pool;
  /** As in the addresses. */
  readonly dataDir?: string;
  /** Connects at the first call. Throws a ClientError when the server does not answer. */
  readonly temporal: () => Promise<Client>;
  readonly close: () => Promise<void>;
};

const CONNECT_TIMEOUT_MS = 5_000;

/**
 * Connects to Postgres and brings its tables up to date. Throws a ClientError of one sentence when it cannot be
 * reached or was written by a newer Assay.
 */
export async function connectAssay(addresses: AssayAddresses): Promise<AssayConnection> {
  const db = createPool(addresses.databaseUrl, { maxConnections: 4 });
  let temporal: Promise<Client> | null = null;
  const close = async (): Promise<void> => {
    await Promise.allSettled([temporal?.then((client) => client.connection.close()), db.end()]);
  };
  try {
    await checkDatabase(db, addresses.databaseUrl);
    await migrate(db);
  } catch (error) {
    await close();
    throw new ClientError(error instanceof Error ? error.message : String(error), { cause: error });
  }
  const { dataDir } = addresses;
  return {
    db,
    ...(dataDir === undefined ? {} : { dataDir }),
    temporal: () => (temporal ??= connectTemporal(addresses.temporal)),
    close,
  };
}

async function connectTemporal(given: AssayAddresses['temporal']): Promise<Client> {
  const { Client, Connection } = await import('@temporalio/client');
  const { connectionOptions, namespace } = given === null ? await loadProfile() : toOptions(given);
  const { metadata, ...options } = connectionOptions;
  const address = options.address ?? 'localhost:7233';
  try {
    const connection = await Connection.connect({
      ...options,
      address,
      metadata: toPlainMetadata(metadata),
      connectTimeout: CONNECT_TIMEOUT_MS,
    });
    return new Client({ connection, namespace: namespace ?? 'default' });
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/\s+/g, ' ') : String(error);
    throw new ClientError(
      `Temporal at ${address} does not answer: ${why}. Start it, or correct TEMPORAL_ADDRESS or the profile file; ` +
        'without them Assay starts a server of its own.',
      { cause: error },
    );
  }
}

const toOptions = ({ address, namespace }: { address: string; namespace: string }): ClientConnectConfig => ({
  connectionOptions: { address },
  namespace,
});

async function loadProfile(): Promise<ClientConnectConfig> {
  const { loadClientConnectConfig } = await import('@temporalio/envconfig');
  try {
    return loadClientConnectConfig();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ClientError(
      `Temporal's profile cannot be read: ${why}. Mend the file or the TEMPORAL_ variables.`,
      {
        cause: error,
      },
    );
  }
}

/** The profile's type allows binary values, which no variable can hold. */
const toPlainMetadata = (
  metadata: ClientConnectConfig['connectionOptions']['metadata'],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(metadata ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
