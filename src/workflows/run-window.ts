import * as workflow from '@temporalio/workflow';
import { formatCount } from '../domain/format-count.ts';
import type { Pack } from '../domain/pack-tasks.ts';
import { grantLeftOver, placesToStart, takeBack, wantedPlaces, type Holder } from '../domain/places.ts';
import { addTally, tallySince } from '../domain/tally.ts';
import type { RequestBrief, RunBrief, StoppedModels, Tally } from '../domain/workflow-brief.ts';
import { toPackWorkflowId, toTaskWorkflowId } from '../domain/workflow-ids.ts';
import { summarize } from './activities.ts';
import { describeFault } from './describe-fault.ts';
import { RUN_CHANGED, WORKFLOW_TASK_TIMEOUT, type PlacesFreed, type RunChanged } from './messages.ts';
import { toTaskAttributes } from './search-attributes.ts';
import type { task } from './task.ts';

/** What the run carries over when it continues as new, besides its input. */
export type WindowTotals = {
  readonly tally: Tally;
  readonly passed: number;
  readonly faults: readonly string[];
};

export const NO_TOTALS: WindowTotals = { tally: {}, passed: 0, faults: [] };

type Counts = { readonly tally: Tally; readonly passed: number };

const NOTHING: Counts = { tally: {}, passed: 0 };

type Child = workflow.ChildWorkflowHandle<typeof task>;

/** An open task workflow, with what of it is in the totals and what it has been told. */
type OpenTask = Holder & {
  readonly requestIndex: number;
  readonly counted: Counts;
  /** Null while it is being started: what changes meanwhile is told afterwards. */
  readonly child: Child | null;
  readonly told: { readonly places: number; readonly paused: boolean; readonly stopped: boolean };
};

/**
 * The open task workflows of a run and the places that they hold: at most `taskConcurrency` in all.
 * Every child is started inside `scope`, so that cancelling it drains them with their cleanup.
 */
export class RunWindow {
  totals: WindowTotals;
  /** A child found the run stopped in the store. */
  stopped = false;
  /** Children found the engines of these models down. */
  stoppedModels: StoppedModels = {};
  private paused = false;
  private limit: number;
  onChange: () => void = () => undefined;
  /** Nothing is left to start: free places go to the children that are still busy. */
  private tail = false;
  private free: number;
  private readonly run: RunBrief;
  private readonly open = new Map<string, OpenTask>();
  private readonly scope: workflow.CancellationScope;

  constructor(run: RunBrief, totals: WindowTotals, scope: workflow.CancellationScope) {
    this.run = run;
    this.totals = totals;
    this.scope = scope;
    this.limit = run.execution.taskConcurrency;
    this.free = this.limit;
  }

  /** What people say to the run: how many places there are, and whether anything starts. */
  steer({ taskConcurrency, paused }: { readonly taskConcurrency: number; readonly paused: boolean }): void {
    this.free += taskConcurrency - this.limit;
    this.limit = taskConcurrency;
    this.paused = paused;
    for (const { id, places } of takeBack([...this.open.values()], -this.free)) this.move(id, -places);
    this.grantLeftOver();
    this.open.forEach(({ id }) => this.tell(id));
  }

  get openCount(): number {
    return this.open.size;
  }

  /** Cells of the request wait until an engine that is down is asked once more. */
  isHeld(requestIndex: number): boolean {
    return Object.entries(this.stoppedModels).some(
      ([key, until]) => until !== null && key.startsWith(`${requestIndex}/`),
    );
  }

  /** Open task workflows of one request. */
  countOpenOf(requestIndex: number): number {
    return [...this.open.values()].filter((one) => one.requestIndex === requestIndex).length;
  }

  openIds(): readonly string[] {
    return [...this.open.keys()];
  }

  /** Places that the pack would get now; 0 = wait. */
  placesFor(pack: Pack, request: RequestBrief): number {
    if (this.paused) return 0;
    return placesToStart(wantedPlaces(pack, request.strategy), this.free, this.limit);
  }

  /** Starts the task workflow that carries the pack. */
  start(pack: Pack, request: RequestBrief): void {
    const places = this.placesFor(pack, request);
    const id = toId(this.run, request, pack);
    this.free -= places;
    this.open.set(id, {
      id,
      requestIndex: pack.requestIndex,
      attempts: pack.attempts,
      granted: places,
      held: places,
      busy: true,
      counted: NOTHING,
      child: null,
      told: { places, paused: false, stopped: false },
    });
    void this.scope.run(() => this.follow(id, { pack, request, places }));
  }

  /** Takes back what a child reports. */
  freed(report: PlacesFreed): void {
    this.count(report.workflowId, report);
    this.stopModels(report);
    if (report.stopped) this.stop();
    const holder = this.open.get(report.workflowId);
    if (holder === undefined) return;
    const places = Math.min(report.places, holder.held);
    this.free += places;
    const { told } = holder;
    this.open.set(holder.id, {
      ...holder,
      held: holder.held - places,
      busy: false,
      told: { ...told, places: told.places - places },
    });
    this.grantLeftOver();
  }

  /** From here on, places that become free go to the children that still have attempts to start. */
  startTail(): void {
    this.tail = true;
    this.grantLeftOver();
  }

  /** The list of tasks is gone through once more; what is down for good stays so. */
  restart(): void {
    this.tail = false;
    const down = Object.entries(this.stoppedModels).filter(([, until]) => until === null);
    this.stoppedModels = Object.fromEntries(down);
  }

  /** Before the tail only those get some that lost all of theirs: a pack of their own size starts soon enough. */
  private grantLeftOver(): void {
    if (this.paused) return;
    const holders = [...this.open.values()].filter(({ held }) => this.tail || held === 0);
    for (const { id, places } of grantLeftOver(holders, this.free)) {
      this.move(id, places);
      this.tell(id);
    }
  }

  /** Gives places to a child, or takes them back. */
  private move(id: string, places: number): void {
    const holder = this.open.get(id);
    if (holder === undefined) return;
    this.free -= places;
    this.open.set(id, { ...holder, granted: holder.granted + places, held: holder.held + places });
  }

  /** The run is over: children that wait for places or for the end of a pause wait for nothing. */
  private stop(): void {
    if (this.stopped) return;
    this.stopped = true;
    this.open.forEach(({ id }) => this.tell(id));
  }

  private stopModels({ stoppedModels = {} }: Pick<PlacesFreed, 'stoppedModels'>): void {
    this.stoppedModels = { ...this.stoppedModels, ...stoppedModels };
  }

  /** Signals what a child does not know yet. One that has ended meanwhile needs to know nothing. */
  private tell(id: string): void {
    const { paused, stopped } = this;
    const holder = this.open.get(id);
    if (holder === undefined || holder.child === null) return;
    const { told, held, child } = holder;
    const places = held - told.places;
    if (places === 0 && paused === told.paused && stopped === told.stopped) return;
    this.open.set(id, { ...holder, told: { places: held, paused, stopped } });
    void child.signal<[RunChanged]>(RUN_CHANGED, { places, paused, stopped }).catch(() => undefined);
  }

  /** Never rejects. What broke a child leaves its cells unrecorded, and the run names them. */
  private async follow(
    id: string,
    { pack, request, places }: { pack: Pack; request: RequestBrief; places: number },
  ): Promise<void> {
    try {
      const child = await workflow.startChild<typeof task>('task', {
        workflowId: id,
        args: [{ run: narrow(this.run, pack), request, tasks: pack.tasks, places }],
        parentClosePolicy: 'REQUEST_CANCEL',
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        staticSummary: summarizePack(pack, request),
        ...toTaskAttributes(this.run, request, pack.tasks),
      });
      this.started(id, child);
      const result = await child.result();
      this.count(id, result);
      this.stopModels(result);
      result.faults.forEach((fault) => this.fault(fault));
      if (result.stopped) this.stop();
    } catch (error) {
      if (!workflow.isCancellation(error)) this.fault(`${id}: ${describeFault(error)}`);
    } finally {
      this.free += this.open.get(id)?.held ?? 0;
      this.open.delete(id);
      this.grantLeftOver();
      this.onChange();
    }
  }

  private started(id: string, child: Child): void {
    const holder = this.open.get(id);
    if (holder === undefined) return;
    this.open.set(id, { ...holder, child });
    this.tell(id);
  }

  /** Children report all that they recorded, so that a signal lost at a child's end is made good by its result. */
  private count(id: string, { tally, passed }: Counts): void {
    const task = this.open.get(id);
    if (task === undefined) return;
    const { totals } = this;
    this.totals = {
      ...totals,
      tally: addTally(totals.tally, tallySince(tally, task.counted.tally)),
      passed: totals.passed + passed - task.counted.passed,
    };
    this.open.set(id, { ...task, counted: { tally, passed } });
    this.onChange();
  }

  private fault(message: string): void {
    if (this.totals.faults.length < 5)
      this.totals = { ...this.totals, faults: [...this.totals.faults, message] };
  }
}

/** A child carries the queues of its own models only. */
function narrow(run: RunBrief, pack: Pack): RunBrief {
  const queues = pack.tasks.map(({ modelId }) => [modelId, run.modelQueues[modelId] ?? ''] as const);
  return { ...run, modelQueues: Object.fromEntries(queues) };
}

/** A pack of a request that shares workflows is named by its range, else by its only task. */
function toId(run: RunBrief, request: RequestBrief, pack: Pack): string {
  const [first] = pack.tasks;
  const last = pack.tasks.at(-1);
  if (first === undefined || last === undefined) throw new Error('a pack holds at least one task');
  const { runId, generation } = run;
  if (pack.tasks.length > 1) {
    return toPackWorkflowId({
      runId,
      generation,
      requestName: request.name,
      from: first.task,
      to: last.task,
    });
  }
  return toTaskWorkflowId({ ...first, runId, generation, requestName: request.name });
}

function summarizePack(pack: Pack, request: RequestBrief): string {
  const [first] = pack.tasks;
  const what =
    pack.tasks.length > 1
      ? `${pack.tasks.length} tasks from ${first?.caseId}`
      : `${first?.modelId} on ${first?.caseId}`;
  return summarize(`${request.name}: ${what}, ${formatCount(pack.attempts, 'attempt')}`);
}
