import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { Logger } from 'pino';
import { join } from 'node:path';
import type { Analyzer } from '../analyzers/analyzer.ts';
import { createActivities, type Activities } from '../activities/index.ts';
import { MAX_PROCESSES } from '../modules/module-pool.ts';
import type { EnvironmentProvider } from '../environments/environment.ts';
import type { SlotPace } from '../domain/adaptive-slots.ts';
import type { HoldPace } from '../store/engine-health.ts';
import type { TransactionalDb } from '../store/pool.ts';
import { WORKFLOW_QUEUE } from '../workflows/messages.ts';
import { buildDependencies } from './build-dependencies.ts';
import { createEnvironmentWorkers } from './environment-workers.ts';
import { EngineWorkers } from './engine-workers.ts';
import type { KnownSecrets } from './known-secrets.ts';
import { readHostId } from './host-id.ts';
import { HostLease } from './host-lease.ts';
import { loadWorkflowBundle } from './workflow-bundle.ts';
import { endLeftProcesses, recount } from './reap-sessions.ts';
import { SessionLead } from './session-lead.ts';

export type WorkerParts = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly db: TransactionalDb;
  readonly dataDir: string;
  /** Folder that the packages of run files resolve from; null = as each run recorded it. */
  readonly projectDir?: string | null;
  readonly logger: Logger;
  /** Of the worker's log as well, which is opened first. */
  readonly secrets: KnownSecrets;
  /** Tests: 0 replays every workflow task. */
  readonly maxCachedWorkflows?: number;
  /** Tests: slots that move faster. */
  readonly slotPace?: Partial<SlotPace>;
  /** Tests: breakers that are half open sooner. */
  readonly holdPace?: HoldPace;
  /** Tests: sessions that never get ready are given up sooner. */
  readonly setUpMs?: number;
  /** Tests: sees what is asked of environments. */
  readonly wrapEnvironment?: (environment: EnvironmentProvider) => EnvironmentProvider;
  /** Tests: others than the built-in ones. */
  readonly analyzers?: readonly Analyzer[];
  /** Tests: other options for every Temporal worker. */
  readonly options?: Partial<WorkerOptions>;
};

export type ComposedWorker = ReturnType<typeof assemble>;

/** Calls in flight are given this long when the worker is told to end; then they are sent again elsewhere. */
const SHUTDOWN_GRACE_MS = 45_000;

/** Builds one worker process: workflows and store, sessions of this host, one worker for each engine. */
export async function composeWorker(parts: WorkerParts) {
  const hostId = readHostId(parts.dataDir);
  // Built last, from what needs it.
  const late: { engines: EngineWorkers | null } = { engines: null };
  const built = buildDependencies({
    ...parts,
    hostId,
    projectDir: parts.projectDir ?? null,
    onThrottled: (engineId) => late.engines?.noteThrottle(engineId),
    onEngine: (engineId, health) => late.engines?.noteHealth(engineId, health),
    borrowSlot: async (...asked) => (await late.engines?.borrowSlot(...asked)) ?? (() => undefined),
  });
  const activities = createActivities(built.dependencies);
  const bundle = await loadWorkflowBundle(join(parts.dataDir, 'cache'));
  await endLeftProcesses(built.environments, parts.logger);
  for (const environment of built.environments) await recount({ db: parts.db, hostId, environment });
  await built.dependencies.mcp.endLeft();
  const common = toCommonOptions(parts);
  const main = await Worker.create({
    ...common,
    taskQueue: WORKFLOW_QUEUE,
    workflowBundle: bundle,
    // Without an environment nothing is opened: any worker says what the attempt may use.
    activities: withoutSessionSteps(activities),
    maxConcurrentActivityTaskExecutions: 40,
    maxConcurrentLocalActivityExecutions: 100,
    maxCachedWorkflows: parts.maxCachedWorkflows ?? 1_000,
    stickyQueueScheduleToStartTimeout: '2s',
  });
  const sessions = await createEnvironmentWorkers({
    common,
    hostId,
    environments: built.environments,
    activities,
  });
  const modules = await Worker.create({
    ...common,
    taskQueue: 'assay-process',
    activities: { runTool: activities.runTool, gradeInProcess: activities.gradeInProcess },
    maxConcurrentActivityTaskExecutions: MAX_PROCESSES,
  });
  const hasKey = (name: string): boolean => parts.secrets.read(name) !== null;
  const engines = new EngineWorkers({
    ...parts,
    hostId,
    activities: { callModel: activities.callModel, askJudges: activities.askJudges },
    common,
    hasKey,
  });
  late.engines = engines;
  return assemble({
    workers: [main, ...sessions, modules],
    engines,
    hostId,
    secrets: parts.secrets,
    ...built,
  });
}

const toCommonOptions = ({ connection, namespace, options }: WorkerParts) => ({
  connection,
  namespace,
  shutdownGraceTime: SHUTDOWN_GRACE_MS,
  shutdownForceTime: SHUTDOWN_GRACE_MS + 10_000,
  maxHeartbeatThrottleInterval: 5_000,
  defaultHeartbeatThrottleInterval: 5_000,
  ...options,
});

/** What any worker does: no step that belongs to a session, an engine or a process. */
function withoutSessionSteps(activities: Activities): Partial<Activities> {
  const {
    collect: _collect,
    evaluate: _evaluate,
    closeSession: _closeSession,
    runTool: _runTool,
    runAgent: _runAgent,
    callModel: _callModel,
    askJudges: _askJudges,
    gradeInProcess: _gradeInProcess,
    ...rest
  } = activities;
  return rest;
}

type Assembly = {
  readonly workers: readonly Worker[];
  readonly engines: EngineWorkers;
  readonly hostId: string;
  readonly secrets: KnownSecrets;
} & ReturnType<typeof buildDependencies>;

function assemble({ workers, engines, hostId, environments, secrets, dependencies }: Assembly) {
  const lease = new HostLease(dependencies.db, { hostId, environments, redact: dependencies.redact });
  const lead = new SessionLead(dependencies.db, { hostId, environments });
  let ended: Promise<unknown> = Promise.resolve();
  return {
    hostId,
    environments,
    secrets,
    engines,
    dependencies,
    /** Starts polling. `ended` settles when every worker has ended, and rejects when one broke. */
    async start(): Promise<{ readonly ended: Promise<unknown> }> {
      ended = Promise.all(workers.map((worker) => worker.run()));
      ended.catch(() => undefined);
      await lease.start();
      await lead.start();
      await engines.start();
      return { ended };
    },
    /** Takes no more work, lets calls in flight end, and returns when all is quiet. */
    async stop(): Promise<void> {
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      await lead.stop();
      await Promise.allSettled([engines.stop(), ended]);
      lease.stop();
      await Promise.all([dependencies.modules.stop(), dependencies.mcp.stop()]);
    },
  };
}
