import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { Activities } from '../activities/index.ts';
import { comeBack } from '../activities/failure.ts';
import { UNUSED_SLOTS } from './engine-workers.ts';
import type { CountedEnvironment } from './counted-environments.ts';
import type { SessionSlots } from './session-slots.ts';

export type EnvironmentWorkersOptions = {
  readonly common: Partial<WorkerOptions> & {
    readonly connection: NativeConnection;
    readonly namespace: string;
  };
  readonly hostId: string;
  readonly environments: readonly CountedEnvironment[];
  readonly activities: Pick<
    Activities,
    | 'prepare'
    | 'prepareRequest'
    | 'openSession'
    | 'runTool'
    | 'runAgent'
    | 'collect'
    | 'evaluate'
    | 'closeSession'
  >;
};

/** Workers of this host's sessions: one queue for each kind, which is served while it can be opened here; one for what is open. */
export async function createEnvironmentWorkers(
  options: EnvironmentWorkersOptions,
): Promise<readonly Worker[]> {
  const { common, hostId, environments, activities } = options;
  const { openSession, evaluate, ...onHost } = activities;
  const workers: Worker[] = [];
  for (const { provider, slots } of environments) {
    const opener = await Worker.create({
      ...common,
      taskQueue: `assay-env-${provider.kind}`,
      activities: { openSession: byLead(slots, openSession), evaluate: byLead(slots, evaluate) },
      tuner: { ...UNUSED_SLOTS, activityTaskSlotSupplier: slots },
    });
    workers.push(opener);
  }
  const host = await Worker.create({
    ...common,
    taskQueue: `assay-host-${hostId}`,
    // A run or a request that only this host can prepare, for the engine that knows its images is here.
    activities: { evaluate, ...onHost },
    maxConcurrentActivityTaskExecutions: 200,
  });
  return [...workers, host];
}

const LEAD_AGAIN_MS = 1_000;

/** A task that came to a worker that does not lead any more goes back to the server, for the one that does. */
export const byLead =
  <Input, Result>(slots: SessionSlots, activity: (input: Input) => Promise<Result>) =>
  async (input: Input): Promise<Result> => {
    if (!slots.isLeading) throw comeBack(LEAD_AGAIN_MS, 'another worker of this host opens its sessions');
    return await activity(input);
  };
