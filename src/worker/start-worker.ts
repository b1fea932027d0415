import { setTimeout as sleep } from 'node:timers/promises';
import { makeTelemetryFilterString, Runtime, type NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import { readKey } from '../config/environment-variables.ts';
import { repairStack } from '../local/stack.ts';
import { watchUse } from '../local/watch-use.ts';
import { markWorkerReady } from '../local/worker-part.ts';
import { listenForRuns } from '../store/listen.ts';
import { migrate } from '../store/migrate.ts';
import { checkDatabase, createPool } from '../store/pool.ts';
import { listRuns } from '../store/runs.ts';
import { composeWorker, type ComposedWorker } from './compose-worker.ts';
import { KnownSecrets } from './known-secrets.ts';
import { openLog } from './open-log.ts';
import { reapRuns } from './reap-runs.ts';
import { reapSessions } from './reap-sessions.ts';
import { connectTemporal, createClient } from './temporal-connection.ts';
import { openWorkerKeys } from './worker-keys.ts';
import type { WorkerSettings } from './worker-settings.ts';

const REAP_EVERY_MS = 60_000;
const LOOK_AT_SERVICES_EVERY_MS = 3_000;
const LOOK_AT_KEYS_EVERY_MS = 5_000;

type Running = {
  readonly settings: WorkerSettings;
  readonly worker: ComposedWorker;
  readonly db: ReturnType<typeof createPool>;
  readonly connection: NativeConnection;
  readonly logger: Logger;
  readonly ending: AbortController;
};

/**
 * Runs a worker in this process until it is told to end (SIGTERM, SIGINT, the idle stop of its stack).
 * Brings the database's schema up to date first. Rejects when a part of it breaks.
 */
export async function startWorker(settings: WorkerSettings): Promise<void> {
  const secrets = new KnownSecrets(readKey);
  const logger = openLog((line) => secrets.redact(line));
  Runtime.install({
    shutdownSignals: [],
    telemetryOptions: { logging: { filter: makeTelemetryFilterString({ core: 'WARN', other: 'WARN' }) } },
  });
  const db = createPool(settings.databaseUrl, { maxConnections: 40 });
  await checkDatabase(db, settings.databaseUrl);
  await migrate(db);
  const connection = await connectTemporal(settings);
  const { namespace, dataDir, projectDir } = settings;
  const worker = await composeWorker({ connection, namespace, db, dataDir, projectDir, logger, secrets });
  const running = { settings, worker, db, connection, logger, ending: new AbortController() };
  try {
    await runUntilEnd(running);
  } finally {
    await worker.stop();
    await connection.close();
    await db.end();
  }
}

async function runUntilEnd(running: Running): Promise<void> {
  const { worker, settings, logger, ending } = running;
  const { ended } = await worker.start();
  const onSignal = (): void => ending.abort(new Error('told to end'));
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
  const told = new Promise<void>((resolve) =>
    ending.signal.addEventListener('abort', () => resolve(), { once: true }),
  );
  const keys = await openWorkerKeys(running);
  const watches = [
    keepListening(running),
    keepReaping(running),
    repeat(ending.signal, LOOK_AT_KEYS_EVERY_MS, keys.look),
  ];
  if (settings.stack) watches.push(keepServicesUp(running), stopWhenIdle(running));
  markWorkerReady(settings.dataDir, settings.stack ? 'stack' : 'own');
  logger.info({ hostId: worker.hostId, ...withoutPassword(settings) }, 'the worker polls');
  try {
    await Promise.race([ended, told]);
  } finally {
    ending.abort(new Error('ending'));
    await Promise.all([...watches, keys.close()]);
    logger.info('the worker ends');
  }
}

const withoutPassword = ({ temporalAddress, namespace, dataDir }: WorkerSettings) => ({
  temporalAddress,
  namespace,
  dataDir,
});

/** Opens the queues of engines as soon as a run says that it is there. */
async function keepListening({ settings, worker, ending }: Running): Promise<void> {
  await repeat(ending.signal, LOOK_AT_SERVICES_EVERY_MS, async () => {
    const lost = Promise.withResolvers<void>();
    const onEnding = (): void => lost.resolve();
    ending.signal.addEventListener('abort', onEnding, { once: true });
    const onChange = (): void => void worker.engines.look();
    const stop = await listenForRuns(settings.databaseUrl, { onChange, onLost: () => lost.resolve() });
    await lost.promise;
    ending.signal.removeEventListener('abort', onEnding);
    await stop();
  });
}

/** Removes sessions and settles runs whose owner has ended: at the start, then every minute. */
async function keepReaping({ settings, worker, db, logger, ending }: Running): Promise<void> {
  const client = createClient(settings);
  const { hostId, environments, dependencies } = worker;
  await repeat(ending.signal, REAP_EVERY_MS, async () => {
    await Promise.allSettled([
      reapRuns({ client, dependencies, logger }),
      reapSessions({ client, db, environments, hostId, logger }),
    ]);
  });
  await client.connection.close();
}

/** Postgres or Temporal of the local stack that died is started again on its port and data. */
async function keepServicesUp({ settings, logger, ending }: Running): Promise<void> {
  const { dataDir } = settings;
  await repeat(ending.signal, LOOK_AT_SERVICES_EVERY_MS, async () => {
    const note = (message: string): void => logger.warn(message);
    await repairStack({ dataDir, environment: process.env, workerCommand: null, note });
  });
}

async function stopWhenIdle({ settings, db, ending }: Running): Promise<void> {
  const openRuns = async (): Promise<number> => (await listRuns(db, { openOnly: true, limit: 1 })).length;
  const drain = async (): Promise<void> => ending.abort(new Error('nobody uses the stack'));
  await watchUse({ dataDir: settings.dataDir, openRuns, drain, signal: ending.signal }).catch(
    () => undefined,
  );
  ending.abort(new Error('nobody uses the stack'));
}

/** Does a chore again and again until the signal; a chore that fails is tried again at its next time. */
async function repeat(signal: AbortSignal, everyMs: number, chore: () => Promise<void>): Promise<void> {
  while (!signal.aborted) {
    await chore().catch(() => undefined);
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}
