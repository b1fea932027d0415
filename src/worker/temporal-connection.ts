import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker';
import type { WorkerSettings } from './worker-settings.ts';

/**
 * Connects to the server of the settings. Credentials and TLS come from Temporal's standard variables and
 * profile when those name this server.
 */
export async function connectTemporal(settings: WorkerSettings): Promise<NativeConnection> {
  const { connectionOptions } = loadClientConnectConfig();
  const options = connectionOptions.address === settings.temporalAddress ? connectionOptions : {};
  // On one machine compressing costs both sides a third of their time and saves nothing.
  const local = /^(127\.|localhost|\[::1\])/.test(settings.temporalAddress);
  const grpcCompression = { codec: local ? 'none' : 'gzip' } as const;
  return await NativeConnection.connect({
    ...options,
    address: settings.temporalAddress,
    grpcCompression,
  } as NativeConnectionOptions);
}
