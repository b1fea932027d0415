import { readSettings } from '../config/environment-variables.ts';
import type { ConnectOptions } from './assay-client.ts';
import { connectAssay, type AssayConnection } from './connect.ts';
import { openAssay, toStackOptions } from './open-stack.ts';

/** Connects to what is named, else to the stack that the command `assay` uses. */
export async function openClient(
  options: ConnectOptions,
): Promise<{ readonly connection: AssayConnection; readonly close: () => Promise<void> }> {
  if (options.databaseUrl !== undefined) {
    const { databaseUrl, temporal = null, dataDir } = options;
    const connection = await connectAssay({
      databaseUrl,
      temporal,
      ...(dataDir === undefined ? {} : { dataDir }),
    });
    return { connection, close: connection.close };
  }
  const settings = readSettings();
  const { dataDir = settings.dataDir, note = () => undefined } = options;
  return await openAssay(toStackOptions({ dataDir, worker: settings.worker, note }));
}
