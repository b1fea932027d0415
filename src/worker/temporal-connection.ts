import { loadClientConnectConfig } from '@temporalio/envconfig';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { WorkerSettings } from './worker-settings.ts';

/** Connects the workers to the server of the settings. */
export async function connectTemporal(settings: WorkerSettings): Promise<NativeConnection> {
  // On one machine compressing costs both sides a third of their time and saves nothing.
  const local = /^(127\.|localhost|\[::1\])/.test(settings.temporalAddress);
  const grpcCompression = { codec: local ? 'none' : 'gzip' } as const;
  return await NativeConnection.connect({
    ...readCredentials(settings),
    address: settings.temporalAddress,
    grpcCompression,
  } as NativeConnectionOptions);
}

/** A client of the same server, which connects at its first call. */
export function createClient(settings: WorkerSettings): Client {
  const { temporalAddress: address, namespace } = settings;
  return new Client({ connection: Connection.lazy({ ...readCredentials(settings), address }), namespace });
}

/** Credentials and TLS of Temporal's standard variables and profile, when those name this server. */
function readCredentials({ temporalAddress }: WorkerSettings) {
  const { connectionOptions } = loadClientConnectConfig();
  return connectionOptions.address === temporalAddress ? connectionOptions : {};
}
