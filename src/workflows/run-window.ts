import * as workflow from '@temporalio/workflow';
import { formatCount } from '../domain/format-count.ts';
import type { Pack } from '../domain/pack-tasks.ts';
import { grantLeftOver, placesToStart, wantedPlaces, type Holder } from '../domain/places.ts';
import { addTally, tallySince } from '../domain/tally.ts';
import type { RequestBrief, RunBrief, Tally } from '../domain/workflow-brief.ts';
import { toPackWorkflowId, toTaskWorkflowId } from '../domain/workflow-ids.ts';
import { summarize } from './activities.ts';
import { describeFault } from './describe-fault.ts';
import { PLACES_GRANTED, WORKFLOW_TASK_TIMEOUT, type PlacesFreed, type PlacesGranted } from './messages.ts';
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

/** An open task workflow, with what of it is in the totals. */
type OpenTask = Holder & { readonly counted: Counts };

/**
 * The open task workflows of a run and the places that they hold: at most `taskConcurrency` in all.
 * Every child is started inside `scope`, so that cancelling it drains them with their cleanup.
 */
export class RunWindow {
  totals: WindowTotals;
  /** A child found the run stopped in the store. */
  stopped = false;
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
    this.free = run.execution.taskConcurrency;
  }

  get openCount(): number {
    return this.open.size;
  }

  openIds(): readonly string[] {
    return [...this.open.keys()];
  }

  /** Places that the pack would get now; 0 = wait. */
  placesFor(pack: Pack, request: RequestBrief): number {
    const { taskConcurrency } = this.run.execution;
    return placesToStart(wantedPlaces(pack, request.strategy), this.free, taskConcurrency);
  }

  /** Starts the task workflow that carries the pack. */
  start(pack: Pack, request: RequestBrief): void {
    const places = this.placesFor(pack, request);
    const id = toId(this.run, request, pack);
    this.free -= places;
    this.open.set(id, {
      id,
      attempts: pack.attempts,
      granted: places,
      held: places,
      busy: true,
      counted: NOTHING,
    });
    void this.scope.run(() => this.follow(id, { pack, request, places }));
  }

  /** Takes back what a child reports. */
  freed(report: PlacesFreed): void {
    this.count(report.workflowId, report);
    if (report.stopped) this.stopped = true;
    const holder = this.open.get(report.workflowId);
    if (holder === undefined) return;
    const places = Math.min(report.places, holder.held);
    this.free += places;
    this.open.set(holder.id, { ...holder, held: holder.held - places, busy: false });
    this.grantLeftOver();
  }

  /** From here on, places that become free go to the children that still have attempts to start. */
  startTail(): void {
    this.tail = true;
    this.grantLeftOver();
  }

  private grantLeftOver(): void {
    if (!this.tail) return;
    for (const { id, places } of grantLeftOver([...this.open.values()], this.free)) {
      const holder = this.open.get(id);
      if (holder === undefined) continue;
      this.free -= places;
      this.open.set(id, { ...holder, granted: holder.granted + places, held: holder.held + places });
      void workflow
        .getExternalWorkflowHandle(id)
        .signal<[PlacesGranted]>(PLACES_GRANTED, { places })
        .catch(() => undefined);
    }
  }

  /** Never rejects. What broke a child leaves its cells unrecorded, and the run names them. */
  private async follow(
    id: string,
    { pack, request, places }: { pack: Pack; request: RequestBrief; places: number },
  ): Promise<void> {
    try {
      const result = await workflow.executeChild<typeof task>('task', {
        workflowId: id,
        args: [{ run: narrow(this.run, pack), request, tasks: pack.tasks, places }],
        parentClosePolicy: 'REQUEST_CANCEL',
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        staticSummary: summarizePack(pack, request),
        ...toTaskAttributes(this.run, request, pack.tasks),
      });
      this.count(id, result);
      result.faults.forEach((fault) => this.fault(fault));
      if (result.stopped) this.stopped = true;
    } catch (error) {
      if (!workflow.isCancellation(error)) this.fault(`${id}: ${describeFault(error)}`);
    } finally {
      this.free += this.open.get(id)?.held ?? 0;
      this.open.delete(id);
      this.grantLeftOver();
      this.onChange();
    }
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
