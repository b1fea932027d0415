import { Worker, type NativeConnection } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Activities } from '../activities/index.ts';
import { withHeartbeat } from '../activities/heartbeat.ts';
import { toModelQueue } from '../activities/run-brief.ts';
import { SLOT_PACE, type SlotChange, type SlotPace } from '../domain/adaptive-slots.ts';
import { listOpenEngines, recordSlotChange, type EngineSpec, type OpenEngine } from '../store/engines.ts';
import type { Db } from '../store/pool.ts';
import { EngineSlots } from './engine-slots.ts';

const LOOK_EVERY_MS = 5_000;
/** An engine that no run needs is let go after this time, so that runs in a row share its worker. */
const KEEP_MS = 60_000;
/** Polls that wait at a time: enough to keep a hundred slots in use. */
const POLLERS = 8;

/** These workers run activities alone. */
export const UNUSED_SLOTS = {
  workflowTaskSlotSupplier: { type: 'fixed-size', numSlots: 2 },
  localActivityTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
  nexusTaskSlotSupplier: { type: 'fixed-size', numSlots: 1 },
} as const;

export type EngineWorkersOptions = {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly db: Db;
  readonly activities: Pick<Activities, 'callModel' | 'askJudges'>;
  readonly common: { readonly shutdownGraceTime: number; readonly shutdownForceTime: number };
  readonly logger: Logger;
  /** Whether this worker has a value for a variable. */
  readonly hasKey: (name: string) => boolean;
  /** Named in the record of changes: slots are counted by worker process. */
  readonly hostId: string;
  /** Tests: faster than in use. */
  readonly slotPace?: Partial<SlotPace>;
};

type EngineWorker = {
  readonly worker: Worker;
  readonly slots: EngineSlots;
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

  /** A call of an engine was throttled here. */
  noteThrottle(engineId: string): void {
    this.workers.get(engineId)?.slots.noteThrottle();
  }

  /** A slot of an engine for a call that comes by no queue; free at once where this worker does not serve it. */
  async borrowSlot(engineId: string, signal: AbortSignal): Promise<() => void> {
    return (await this.workers.get(engineId)?.slots.borrow(signal)) ?? (() => undefined);
  }

  /** A call of an engine has found out whether it is alive, or waits for one that does. */
  noteHealth(engineId: string, health: 'alive' | 'unknown'): void {
    this.workers.get(engineId)?.slots.setProbing(health === 'unknown');
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
      if (!this.workers.has(engine.engineId)) await this.open(engine);
      const worker = this.workers.get(engine.engineId);
      if (worker === undefined) continue;
      worker.neededAtMs = now;
      worker.slots.setConcurrency(engine.concurrency);
      worker.slots.setProbing(engine.probing);
      worker.slots.pause(engine.pauseMs);
    }
    for (const [engineId, worker] of this.workers) {
      if (now - worker.neededAtMs > KEEP_MS) this.letGo(engineId);
    }
  }

  private canServe({ apiKeyEnv }: EngineSpec): boolean {
    return apiKeyEnv === null || this.options.hasKey(apiKeyEnv);
  }

  private async open(engine: OpenEngine): Promise<void> {
    const { connection, namespace, activities, common, logger, slotPace } = this.options;
    const { engineId } = engine;
    const slots = new EngineSlots({
      concurrency: engine.concurrency,
      pace: { ...SLOT_PACE, ...slotPace },
      onChange: (change) => this.record(engineId, change),
    });
    slots.setProbing(engine.probing);
    slots.pause(engine.pauseMs);
    const worker = await Worker.create({
      connection,
      namespace,
      ...common,
      taskQueue: toModelQueue(engineId),
      activities: {
        callModel: enterFirst(slots, activities.callModel),
        askJudges: enterFirst(slots, activities.askJudges),
      },
      tuner: { ...UNUSED_SLOTS, activityTaskSlotSupplier: slots },
      activityTaskPollerBehavior: { type: 'simple-maximum', maximum: POLLERS },
    });
    const onFault = (error: unknown): void => {
      logger.error({ engine: engineId, error: String(error) }, 'the worker of an engine has ended');
      this.workers.delete(engineId);
    };
    const ended = worker
      .run()
      .catch(onFault)
      .finally(() => slots.close());
    this.workers.set(engineId, { worker, slots, ended, neededAtMs: Date.now() });
    logger.info({ engine: engineId, slots: slots.limit }, 'serving an engine');
  }

  private record(engineId: string, change: SlotChange): void {
    const { db, hostId, logger } = this.options;
    logger.info({ engine: engineId, ...change }, 'slots of an engine');
    recordSlotChange(db, { engineId, ...change, hostId }).catch((error: unknown) =>
      logger.warn({ engine: engineId, error: String(error) }, 'a change of slots could not be recorded'),
    );
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

/** A task that its poll brought while its slot was lent waits, and says that it lives. */
const enterFirst =
  <Input, Result>(slots: EngineSlots, activity: (input: Input) => Promise<Result>) =>
  async (input: Input): Promise<Result> => {
    await withHeartbeat((signal) => slots.enter(signal));
    return await activity(input);
  };
