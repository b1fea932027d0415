import { loadClientConnectConfig } from '@temporalio/envconfig';
import { NativeConnection } from '@temporalio/worker';
import type { WorkerSettings } from './worker-settings.ts';

/**
 * Connects to the server of the settings. Credentials and TLS come from Temporal's standard variables and
 * profile when those name this server.
 */
export async function connectTemporal(settings: WorkerSettings): Promise<NativeConnection> {
  const { connectionOptions } = loadClientConnectConfig();
  const options = connectionOptions.address === settings.temporalAddress ? connectionOptions : {};
  return await NativeConnection.connect({ ...options, address: settings.temporalAddress } as never);
}
