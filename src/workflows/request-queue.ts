import * as workflow from '@temporalio/workflow';
import type { Pack } from '../domain/pack-tasks.ts';
import { findNextToPrepare, listFinal, type RequestStand } from '../domain/request-order.ts';
import type { PreparedRequest, PreparedRun, RequestBrief } from '../domain/workflow-brief.ts';
import { closing, planning, preparingOn } from './activities.ts';
import { describeFault } from './describe-fault.ts';
import type { RequestProgress } from './messages.ts';

/** What a run carries of its requests when it continues as new; lists of indexes. */
export type CarriedRequests = {
  readonly waiting: readonly number[];
  readonly failed: readonly number[];
  /** They have been ended. */
  readonly final: readonly number[];
  /** Tasks that were started or passed over, by request. */
  readonly taken: readonly number[];
  /** The tasks are gone through once more: what is final shows when nothing is left. */
  readonly again: boolean;
};

/** What of a run the queue looks at. */
export type QueueView = {
  readonly taskConcurrency: () => number;
  /** Open task workflows of a request. */
  readonly countActive: (requestIndex: number) => number;
  /** Tasks of the request wait until an engine is asked once more. */
  readonly isHeld: (requestIndex: number) => boolean;
  /** Nothing is begun any more: the run was stopped, or it continues as new first. */
  readonly isOver: () => boolean;
  readonly isStopped: () => boolean;
  readonly onChange: () => void;
};

/**
 * The requests of a run in their order: prepares later ones while earlier ones run, and ends each as soon as its own
 * tasks are done and every earlier one has nothing left to start. A run of one request costs it nothing.
 */
export class RequestQueue {
  private readonly prepared: Extract<PreparedRun, { kind: 'ready' }>;
  private readonly view: QueueView;
  private readonly waiting: Set<number>;
  private readonly failed: Set<number>;
  private readonly final: Set<number>;
  private readonly taken: number[];
  private again: boolean;
  private preparing = false;
  private finishing = 0;

  constructor(
    prepared: Extract<PreparedRun, { kind: 'ready' }>,
    carried: CarriedRequests | undefined,
    view: QueueView,
  ) {
    this.prepared = prepared;
    this.view = view;
    this.waiting = new Set(carried?.waiting ?? prepared.unprepared);
    this.failed = new Set(carried?.failed);
    this.final = new Set(carried?.final);
    this.taken = prepared.requests.map(({ index }) => carried?.taken[index] ?? 0);
    this.again = carried?.again ?? false;
  }

  /** Null = there is nothing to carry. */
  carry(): CarriedRequests | null {
    if (this.prepared.requests.length === 1) return null;
    const { taken, again } = this;
    return { waiting: [...this.waiting], failed: [...this.failed], final: [...this.final], taken, again };
  }

  isWaiting(requestIndex: number): boolean {
    return this.waiting.has(requestIndex);
  }

  hasFailed(requestIndex: number): boolean {
    return this.failed.has(requestIndex);
  }

  /** Tasks of a pack were started or passed over. */
  take({ requestIndex, tasks }: Pack): void {
    this.taken[requestIndex] = (this.taken[requestIndex] ?? 0) + tasks.length;
  }

  /**
   * The tasks of the run come in the order of its requests: earlier ones than that of the next task have none left, also
   * where cells were recorded before their tasks were listed (those of an engine that is down). Undefined = no task is left.
   */
  reach(requestIndex: number | undefined): void {
    for (const request of this.prepared.requests.slice(0, requestIndex))
      this.taken[request.index] = Math.max(this.taken[request.index] ?? 0, countTasks(request));
  }

  /** Tasks that were passed over are gone through once more. */
  restart(): void {
    this.again = true;
  }

  /** Prepares what is due, one request after the other, until none is left or the run is over. */
  prepareAll(scope: workflow.CancellationScope): void {
    if (this.waiting.size === 0) return;
    this.preparing = true;
    // One that is cut off is settled with its run.
    void scope
      .run(() => this.prepareInTurn())
      .catch(() => undefined)
      .finally(() => (this.preparing = false));
  }

  /** Ends requests that are final; the last ones are ended with their run. */
  finish(): void {
    if (this.again || this.view.isOver()) return;
    const requests = listFinal(this.listStands()).filter(
      (index) => !this.final.has(index) && !this.view.isHeld(index),
    );
    if (requests.length === 0 || this.final.size + requests.length === this.prepared.requests.length) return;
    requests.forEach((index) => this.final.add(index));
    const { runId } = this.prepared.run;
    this.finishing += 1;
    void workflow.CancellationScope.nonCancellable(() => closing.finishRequests({ runId, requests }))
      .catch(() => undefined)
      .finally(() => (this.finishing -= 1));
  }

  /** What it has begun has ended; a run that was stopped waits for no preparation. */
  async settle(): Promise<void> {
    const isDone = (): boolean => this.finishing === 0 && (!this.preparing || this.view.isStopped());
    if (!isDone()) await workflow.condition(isDone);
  }

  listProgress(): readonly RequestProgress[] {
    return this.listStands().map((stand, index) => ({
      name: this.prepared.requests[index]?.name ?? '',
      state: this.final.has(index) ? 'final' : toState(stand),
    }));
  }

  private listStands(): readonly RequestStand[] {
    return this.prepared.requests.map((request): RequestStand => ({
      preparation: this.toPreparation(request.index),
      pending: countTasks(request) - (this.taken[request.index] ?? 0),
      active: this.view.countActive(request.index),
    }));
  }

  private toPreparation(index: number): RequestStand['preparation'] {
    if (this.failed.has(index)) return 'failed';
    return this.waiting.has(index) ? 'waiting' : 'done';
  }

  private async prepareInTurn(): Promise<void> {
    const findNext = (): number | null => findNextToPrepare(this.listStands(), this.view.taskConcurrency());
    while (this.waiting.size > 0) {
      await workflow.condition(() => this.view.isOver() || findNext() !== null);
      const next = findNext();
      if (this.view.isOver() || next === null) return;
      const { kind } = await this.prepare(next);
      this.waiting.delete(next);
      if (kind === 'failed') this.failed.add(next);
      this.view.onChange();
    }
  }

  private async prepare(requestIndex: number): Promise<PreparedRequest> {
    const { runId, generation } = this.prepared.run;
    const request = { runId, generation, requestIndex };
    try {
      const found = await planning.prepareRequest(request);
      if (found.kind !== 'elsewhere') return found;
      return await preparingOn(found.hostId).prepareRequest({ ...request, isSentHere: true });
    } catch (error) {
      if (workflow.isCancellation(error)) throw error;
      return await planning.failRequest({ ...request, message: describeFault(error) });
    }
  }
}

const countTasks = ({ tasks, attempts, k }: RequestBrief): number => tasks ?? attempts / k;

function toState({ preparation, pending, active }: RequestStand): RequestProgress['state'] {
  if (preparation !== 'done') return preparation;
  return pending > 0 || active > 0 ? 'running' : 'done';
}
