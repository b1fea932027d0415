import { Worker, type NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Activities } from '../activities/index.ts';
import { toModelQueue } from '../activities/run-brief.ts';
import { listOpenEngines, type EngineSpec } from '../store/engines.ts';
import type { Db } from '../store/pool.ts';

const LOOK_EVERY_MS = 5_000;
/** An engine that no run needs is let go after this time, so that runs in a row share its worker. */
const KEEP_MS = 60_000;
const AUTO_SLOTS = 20;

export type EngineWorkersOptions = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly db: Db;
  readonly activities: Pick<Activities, 'callModel'>;
  readonly common: { readonly shutdownGraceTime: number; readonly shutdownForceTime: number };
  readonly logger: Logger;
  /** Whether this worker has a value for a variable. */
  readonly hasKey: (name: string) => boolean;
};

type EngineWorker = {
  readonly worker: Worker;
  readonly slots: number;
  readonly ended: Promise<void>;
  neededAtMs: number;
};

/**
 * One Temporal worker for each engine that an open run needs: its slots are the limit of calls in flight.
 * Opened when a run says that it is there, at the latest 5 s later; let go when no run needs it. The queue of an
 * engine whose key this worker has not stays closed here: its calls wait for a worker that has it.
 */
export class EngineWorkers {
  private readonly options: EngineWorkersOptions;
  private readonly workers = new Map<string, EngineWorker>();
  private readonly leaving = new Set<Promise<void>>();
  private looking: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | null = null;

  constructor(options: EngineWorkersOptions) {
    this.options = options;
  }

  async start(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS);
  }

  /** Looks at once, after the look that is under way. Never rejects: the store may be away for a while. */
  look(): Promise<void> {
    this.looking = this.looking.then(() =>
      this.adjust().catch((error: unknown) => {
        this.options.logger.warn({ error: String(error) }, 'cannot ask the store which engines are needed');
      }),
    );
    return this.looking;
  }

  /** Ends polling and waits for the calls that are in flight. */
  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.looking;
    for (const engineId of this.workers.keys()) this.letGo(engineId);
    await Promise.all(this.leaving);
  }

  private async adjust(): Promise<void> {
    const needed = (await listOpenEngines(this.options.db)).filter((engine) => this.canServe(engine));
    const now = Date.now();
    for (const engine of needed) {
      const current = this.workers.get(engine.engineId);
      if (current !== undefined && current.slots !== slotsOf(engine)) this.letGo(engine.engineId);
      if (!this.workers.has(engine.engineId)) await this.open(engine);
      const worker = this.workers.get(engine.engineId);
      if (worker !== undefined) worker.neededAtMs = now;
    }
    for (const [engineId, worker] of this.workers) {
      if (now - worker.neededAtMs > KEEP_MS) this.letGo(engineId);
    }
  }

  private canServe({ apiKeyEnv }: EngineSpec): boolean {
    return apiKeyEnv === null || this.options.hasKey(apiKeyEnv);
  }

  private async open(engine: EngineSpec): Promise<void> {
    const { connection, namespace, activities, common, logger } = this.options;
    const slots = slotsOf(engine);
    const worker = await Worker.create({
      connection,
      namespace,
      ...common,
      taskQueue: toModelQueue(engine.engineId),
      activities,
      maxConcurrentActivityTaskExecutions: slots,
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: Math.min(10, Math.max(2, slots >> 3)) },
    });
    const ended = worker.run().catch((error: unknown) => {
      logger.error({ engine: engine.engineId, error: String(error) }, 'the worker of an engine has ended');
      this.workers.delete(engine.engineId);
    });
    this.workers.set(engine.engineId, { worker, slots, ended, neededAtMs: Date.now() });
    logger.info({ engine: engine.engineId, slots }, 'serving an engine');
  }

  private letGo(engineId: string): void {
    const gone = this.workers.get(engineId);
    if (gone === undefined) return;
    this.workers.delete(engineId);
    if (gone.worker.getState() === 'RUNNING') gone.worker.shutdown();
    this.leaving.add(gone.ended);
    void gone.ended.finally(() => this.leaving.delete(gone.ended));
  }
}

const slotsOf = ({ concurrency }: EngineSpec): number => (concurrency === 'auto' ? AUTO_SLOTS : concurrency);
