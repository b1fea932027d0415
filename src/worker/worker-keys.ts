import { Client } from '@temporalio/client';
import type { NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Db } from '../store/pool.ts';
import { forgetWorkerKeys } from '../store/worker-keys.ts';
import type { ComposedWorker } from './compose-worker.ts';
import { openKeyDesk } from './key-desk.ts';
import { lookAtKeys } from './key-watch.ts';
import type { WorkerSettings } from './worker-settings.ts';

export type KeyParts = {
  readonly settings: WorkerSettings;
  readonly worker: ComposedWorker;
  readonly db: Db;
  readonly connection: NativeConnection;
  readonly logger: Logger;
};

/** What a worker does about keys: `look` now and then; the worker of a local stack also takes keys from commands. */
export async function openWorkerKeys({ settings, worker, db, connection, logger }: KeyParts) {
  const { hostId, secrets, engines } = worker;
  const watch = {
    db,
    client: new Client({ connection, namespace: settings.namespace }),
    workerId: `${hostId}/${process.pid}`,
    hasKey: (name: string): boolean => secrets.read(name) !== null,
    handedOver: () => secrets.listHandedOver(),
  };
  const look = (): Promise<void> => lookAtKeys(watch);
  if (!settings.stack) return { look, close: async () => undefined };
  const onKeys = async (): Promise<void> => {
    await Promise.all([engines.look(), look().catch(() => undefined)]);
  };
  // A former worker of this folder has ended, whatever it has said last.
  await forgetWorkerKeys(db, hostId).catch(() => undefined);
  return { look, close: await openKeyDesk({ dataDir: settings.dataDir, secrets, onKeys, logger }) };
}
