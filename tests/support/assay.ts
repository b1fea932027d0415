import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import type pg from 'pg';
import type { AssayConnection } from '../../src/client/connect.ts';
import { startRun } from '../../src/client/start-run.ts';
import { readKey } from '../../src/config/environment-variables.ts';
import type { Json } from '../../src/domain/json.ts';
import type { ReuseRequest } from '../../src/domain/reuse.ts';
import type { RunResult } from '../../src/domain/workflow-brief.ts';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { listenForRuns } from '../../src/store/listen.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPool } from '../../src/store/pool.ts';
import { composeWorker, type ComposedWorker, type WorkerParts } from '../../src/worker/compose-worker.ts';
import { KnownSecrets } from '../../src/worker/known-secrets.ts';
import { BUNDLE_FOLDER } from './bundle-folder.ts';
import { load } from './load.ts';
import { connectTestTemporal, createTestDatabase, type TestTemporal } from './stack.ts';

export { load } from './load.ts';

/** A worker of this process on a database and a namespace of its own, with a client beside it. */
export type TestAssay = {
  readonly db: pg.Pool;
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly client: Client;
  readonly temporal: TestTemporal;
  readonly connection: AssayConnection;
  /** Starts a run from a run file as JSON. */
  readonly start: (document: Json, options?: TestStart) => Promise<string>;
  /** Starts a run and waits for its workflow; the result of a cancelled run is null. */
  readonly run: (document: Json, options?: TestStart) => Promise<RunResult>;
  readonly result: (runId: string) => Promise<RunResult>;
  /** One more worker in this process; its connection is its own, for one has at most one worker a queue. */
  readonly startWorker: () => Promise<{ readonly stop: () => Promise<void> }>;
  /** Every worker that was started. */
  readonly workers: readonly ComposedWorker[];
  readonly close: () => Promise<void>;
};

type TestStart = {
  readonly runId?: string;
  readonly approved?: boolean;
  readonly reuse?: ReuseRequest;
};

let quiet = false;
/** Once a process: the SDK's log shows errors only. */
function installQuietRuntime(): void {
  if (!quiet) Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  quiet = true;
}

export async function createTestAssay({
  temporalAddress,
  ...options
}: Pick<
  WorkerParts,
  'maxCachedWorkflows' | 'options' | 'slotPace' | 'holdPace' | 'setUpMs' | 'wrapEnvironment' | 'analyzers'
> & {
  /** A server of the test's own instead of the one that all tests share. */
  readonly temporalAddress?: string;
} = {}): Promise<TestAssay> {
  installQuietRuntime();
  const { databaseUrl, drop } = await createTestDatabase();
  const temporal = await connectTestTemporal(temporalAddress);
  const namespace = await createNamespace(temporal);
  const db = createPool(databaseUrl, { maxConnections: 30 });
  await migrate(db);
  const dataDir = await mkdtemp(join(tmpdir(), 'assay-worker-'));
  await shareBundles(dataDir);
  const client = new Client({ connection: temporal.connection, namespace });
  const connection: AssayConnection = { db, temporal: async () => client, close: async () => undefined };
  const logger = pino({ level: 'error' });
  const compose = (worker: NativeConnection) => {
    const secrets = new KnownSecrets(readKey);
    return composeWorker({ connection: worker, namespace, db, dataDir, logger, secrets, ...options });
  };
  const workers: ComposedWorker[] = [];
  const stops: (() => Promise<void>)[] = [];
  const startWorker = async () => {
    const own = await NativeConnection.connect({ address: temporal.temporalAddress });
    const worker = await compose(own);
    await worker.start();
    const stopListening = await listenForRuns(databaseUrl, {
      onChange: () => void worker.engines.look(),
      onLost: () => undefined,
    });
    workers.push(worker);
    stops.push(() => Promise.all([stopListening(), worker.stop()]).then(() => own.close()));
    return worker;
  };
  await startWorker();
  const start: TestAssay['start'] = async (document, { runId, approved = false, ...more } = {}) => {
    const loaded = await load(document);
    const wanted = { loaded, runId: runId ?? createTestRunId(), approved, ...more };
    const started = await startRun(connection, wanted);
    return started.runId;
  };
  const result = (runId: string): Promise<RunResult> =>
    client.workflow.getHandle(toRunWorkflowId(runId)).result() as Promise<RunResult>;
  return {
    db,
    databaseUrl,
    dataDir,
    client,
    temporal,
    connection,
    start,
    result,
    startWorker,
    workers,
    run: async (document, more) => await result(await start(document, more)),
    close: async () => {
      await Promise.all(stops.map((stop) => stop()));
      await db.end();
      await temporal.close();
      await drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

export const createTestRunId = (): string => `t-${randomBytes(4).toString('hex')}`;

async function shareBundles(dataDir: string): Promise<void> {
  await mkdir(BUNDLE_FOLDER, { recursive: true });
  await symlink(BUNDLE_FOLDER, join(dataDir, 'cache'));
}

/** Workers of several test files share one server: each has its own namespace. */
export async function createNamespace({ connection }: TestTemporal): Promise<string> {
  const namespace = `test-${randomBytes(6).toString('hex')}`;
  await connection.workflowService.registerNamespace({
    namespace,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  for (let look = 0; look < 200; look += 1) {
    try {
      await connection.workflowService.describeNamespace({ namespace });
      await connection.workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
      return namespace;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`namespace ${namespace} did not appear`);
}
