import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { ClientConnectConfig } from '@temporalio/envconfig';
import { openDatabase } from './postgres.ts';
import { StackError, messageOf } from './stack-error.ts';

/** The process's variables. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Services that the user runs; null where the local stack has to start its own. */
export type ExternalServices = {
  readonly databaseUrl: string | null;
  readonly temporal: ExternalTemporal | null;
};

/** A Temporal server that the user named, with what a client needs to connect (TLS, key). */
export type ExternalTemporal = {
  readonly temporalAddress: string;
  readonly namespace: string;
  readonly connectionOptions: ClientConnectConfig['connectionOptions'];
};

/**
 * Reads `DATABASE_URL`, and Temporal's own variables and profile file. Throws a StackError for a profile that cannot
 * be read.
 */
export function findExternalServices(environment: Environment): ExternalServices {
  return { databaseUrl: environment['DATABASE_URL'] || null, temporal: findExternalTemporal(environment) };
}

/** Connects once to each named service. Throws a StackError that names the one that does not answer. */
export async function assertExternalServices({ databaseUrl, temporal }: ExternalServices): Promise<void> {
  if (databaseUrl !== null) await assertDatabase(databaseUrl);
  if (temporal !== null) await assertTemporal(temporal);
}

/** Connects to a Temporal server that the user named. Close the connection afterwards. */
export async function connectExternalTemporal(temporal: ExternalTemporal): Promise<Connection> {
  const { metadata, ...options } = temporal.connectionOptions;
  const plain = Object.entries(metadata ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Connection.connect({ ...options, metadata: Object.fromEntries(plain), connectTimeout: 5000 });
}

function findExternalTemporal(environment: Environment): ExternalTemporal | null {
  const variables = Object.entries(environment).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  try {
    const config = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(variables) });
    const address = config.connectionOptions.address;
    if (!address) return null;
    return {
      temporalAddress: address,
      namespace: config.namespace ?? 'default',
      connectionOptions: config.connectionOptions,
    };
  } catch (error) {
    throw new StackError(
      `Temporal's profile cannot be read: ${messageOf(error)}. Mend the file or the TEMPORAL_ variables, or remove them to use the local server.`,
      { cause: error },
    );
  }
}

async function assertDatabase(databaseUrl: string): Promise<void> {
  // A text that begins with a slash is the folder of a socket.
  const isAddress = /^(?:postgres|postgresql|socket):/.test(databaseUrl) && URL.canParse(databaseUrl);
  if (!isAddress && !databaseUrl.startsWith('/')) {
    throw new StackError(
      'DATABASE_URL is no address: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE (special characters of a password percent-encoded). ' +
        'Correct it, or unset it and Assay starts a Postgres of its own.',
    );
  }
  try {
    await openDatabase(databaseUrl);
  } catch (error) {
    throw new StackError(
      `Postgres at ${withoutPassword(databaseUrl)} (DATABASE_URL) cannot be used: ${messageOf(error)}. ` +
        'Start it or correct DATABASE_URL, or unset it and Assay starts a Postgres of its own.',
      { cause: error },
    );
  }
}

async function assertTemporal(temporal: ExternalTemporal): Promise<void> {
  try {
    const connection = await connectExternalTemporal(temporal);
    try {
      const { namespace } = temporal;
      await connection.withDeadline(Date.now() + 5000, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
    } finally {
      await connection.close();
    }
  } catch (error) {
    throw new StackError(
      `Temporal at ${temporal.temporalAddress}, namespace "${temporal.namespace}" (TEMPORAL_ variables or profile), does not answer: ` +
        `${messageOf(error)}. Start it or correct the address, or unset it and Assay starts a server of its own.`,
      { cause: error },
    );
  }
}

/** Host, port and database of an address; what cannot be read is not shown, for it may hold a password. */
export function withoutPassword(databaseUrl: string): string {
  try {
    const { host, pathname } = new URL(databaseUrl);
    return `${host}${pathname}`;
  } catch {
    return 'an address that is not a URL';
  }
}
