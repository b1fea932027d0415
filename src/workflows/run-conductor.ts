import * as workflow from '@temporalio/workflow';
import type { Reason, TerminalState } from '../domain/outcome.ts';
import type { Pack } from '../domain/pack-tasks.ts';
import type { TaskRef } from '../domain/plan.ts';
import {
  toStoppedKey,
  type PreparedRun,
  type RequestBrief,
  type RunResult,
  type StoppedModels,
} from '../domain/workflow-brief.ts';
import { closing } from './activities.ts';
import type { RunControlState } from '../domain/run-control.ts';
import { countTally } from '../domain/tally.ts';
import type { PlacesFreed, WorkflowProgress } from './messages.ts';
import { PackLine } from './pack-line.ts';
import { formatEnd, formatProgress } from './progress.ts';
import { RequestQueue, type CarriedRequests } from './request-queue.ts';
import type { RunControls } from './run-controls.ts';
import { RunWindow, type WindowTotals } from './run-window.ts';

/** Starting stops here, or when the server suggests it: what is open ends, and the run continues as new. */
const DRAIN_AT_EVENTS = 8_000;

/** Where a run stands as it continues as new: every task up to `afterTask` has been started and has ended. */
export type Carried = {
  readonly prepared: Extract<PreparedRun, { kind: 'ready' }>;
  readonly afterTask: number;
  readonly totals: WindowTotals;
  /** Variables that its calls wait for. */
  readonly missingKeys?: readonly string[];
  /** Models whose tasks were passed over; absent = none. */
  readonly stoppedModels?: StoppedModels;
  /** Absent = it has one request. */
  readonly requests?: CarriedRequests;
  readonly control: RunControlState;
};

type Halt = { readonly state: TerminalState; readonly reason: Reason };

/** Conducts a prepared run: starts its tasks, stops it when it must stop, and settles it. */
export class RunConductor {
  private readonly prepared: Carried['prepared'];
  private readonly scope = new workflow.CancellationScope();
  private readonly window: RunWindow;
  private readonly requests: RequestQueue;
  private readonly line: PackLine;
  /** Nothing is begun any more: it continues as new. */
  private draining = false;
  private halt: Halt | null = null;
  private missingKeys: readonly string[];
  private readonly controls: RunControls;
  private deadline = new workflow.CancellationScope();
  private deadlineMs: number | null = null;

  constructor(carried: Carried, controls: RunControls) {
    this.prepared = carried.prepared;
    this.controls = controls;
    this.line = new PackLine(carried.prepared, carried.afterTask);
    this.missingKeys = carried.missingKeys ?? [];
    this.window = new RunWindow(carried.prepared.run, carried.totals, this.scope);
    this.window.stoppedModels = carried.stoppedModels ?? {};
    this.window.onChange = () => this.onProgress();
    this.requests = new RequestQueue(carried.prepared, carried.requests, {
      taskConcurrency: () => controls.state.taskConcurrency,
      countActive: (index) => this.window.countOpenOf(index),
      isHeld: (index) => this.window.isHeld(index),
      isOver: () => this.draining || this.isHalted(),
      isStopped: () => this.isHalted(),
      onChange: () => this.onProgress(),
    });
  }

  freed(report: PlacesFreed): void {
    this.window.freed(report);
  }

  /** Calls wait by themselves, in the queue of an engine that no worker serves; here it is shown. */
  waitForKeys(names: readonly string[]): void {
    this.missingKeys = names;
    this.showProgress();
  }

  /** Returns what to carry on with, or null when nothing is left to start. */
  async conduct(root: workflow.CancellationScope): Promise<Carried | null> {
    this.controls.onChange = () => this.steer();
    this.steer();
    root.cancelRequested.catch(() =>
      this.stop('cancelled', 'the run was cancelled; `assay resume` goes on from here'),
    );
    this.requests.prepareAll(this.scope);
    do {
      await this.startTasks();
      if (this.line.isRead) this.window.startTail();
      this.draining = !this.line.isEmpty;
      await this.drain();
    } while (await this.startHeldAgain());
    await this.requests.settle();
    // What was said meanwhile is answered, and carried over.
    await workflow.condition(workflow.allHandlersFinished);
    const isOver = this.isHalted() || this.line.isEmpty;
    if (isOver) this.controls.end();
    this.deadline.cancel();
    return isOver ? null : this.carry();
  }

  private carry(): Carried {
    const { totals, stoppedModels } = this.window;
    const control = this.controls.state;
    const { prepared, missingKeys } = this;
    const { afterTask } = this.line;
    const requests = this.requests.carry();
    const carried = { prepared, afterTask, totals, control, missingKeys, stoppedModels };
    return requests === null ? carried : { ...carried, requests };
  }

  /** Answer of the query `progress`. */
  progress(): WorkflowProgress {
    const { prepared, window, controls } = this;
    const { deadlineMs } = controls;
    return {
      runId: prepared.run.runId,
      state: controls.runState,
      planned: prepared.plannedCells,
      recorded: countTally(window.totals.tally),
      passed: window.totals.passed,
      outcomes: window.totals.tally,
      openWorkflows: window.openCount,
      taskConcurrency: controls.state.taskConcurrency,
      deadlineAt: deadlineMs === null ? null : new Date(deadlineMs).toISOString(),
      requests: this.requests.listProgress(),
    };
  }

  /** Brings everything in line with what people said to the run. */
  private steer(): void {
    const { state, paused, deadlineMs } = this.controls;
    this.window.steer({ taskConcurrency: state.taskConcurrency, paused });
    if (deadlineMs !== this.deadlineMs) {
      this.deadline.cancel();
      this.deadline = new workflow.CancellationScope();
      this.deadlineMs = deadlineMs;
      if (deadlineMs !== null) void this.deadline.run(() => this.watchDeadline(deadlineMs));
    }
    this.showProgress();
  }

  /** Freezes the final state, settles every cell, and returns the run's result. */
  async settle(): Promise<RunResult> {
    const { runId } = this.prepared.run;
    const open = this.window.openIds();
    const faults = [...this.window.totals.faults, ...open.map((id) => `still being cleaned: ${id}`)];
    const result = await closing.settleRun({ runId, freeze: this.halt, faults });
    workflow.setCurrentDetails(formatEnd(result));
    return result;
  }

  /**
   * Once nothing else is left, waits until engines that were down for a time are asked once more; then the cells
   * that have no result are listed again. False = the run is over, or it continues as new first.
   */
  private async startHeldAgain(): Promise<boolean> {
    if (this.isHalted() || !this.line.isEmpty) return false;
    const untilMs = Object.values(this.window.stoppedModels).filter((until) => until !== null);
    if (untilMs.length === 0) return false;
    this.showProgress();
    const waitMs = Math.max(1, Math.min(...untilMs) - Date.now());
    const isOver = (): boolean => this.isHalted();
    await workflow.condition(isOver, waitMs, { summary: 'an engine is down: until it is asked once more' });
    if (this.isHalted()) return false;
    this.window.restart();
    this.requests.restart();
    this.line.restart();
    return !isHistoryLong();
  }

  private async startTasks(): Promise<void> {
    for (;;) {
      const pack = await this.nextPack();
      if (pack === undefined || this.isHalted()) return;
      const request = this.requestOf(pack);
      await workflow.condition(() => this.isHalted() || this.window.placesFor(pack, request) > 0);
      if (this.isHalted()) return;
      this.take(pack);
      const going = this.withoutStopped(pack);
      if (going !== null) this.window.start(going, request);
      this.requests.finish();
      if (isHistoryLong()) return;
    }
  }

  private take(pack: Pack): void {
    this.line.take();
    this.requests.take(pack);
  }

  /** The next pack of which something may start; what never may is passed over. */
  private async nextPack(): Promise<Pack | undefined> {
    for (;;) {
      const pack = await this.line.first();
      this.requests.reach(pack?.requestIndex);
      if (pack === undefined) return pack;
      const { requestIndex } = pack;
      if (this.requests.isWaiting(requestIndex))
        await workflow.condition(() => this.isHalted() || !this.requests.isWaiting(requestIndex));
      const isOut = this.requests.hasFailed(requestIndex) || pack.tasks.every((one) => this.isStopped(one));
      if (!isOut || this.isHalted()) return pack;
      this.take(pack);
      this.requests.finish();
    }
  }

  /** What is only graded needs no engine. */
  private isStopped({ requestIndex, modelId, graded }: TaskRef): boolean {
    return graded === undefined && toStoppedKey(requestIndex, modelId) in this.window.stoppedModels;
  }

  /** The tasks whose models may start; null = none. */
  private withoutStopped(pack: Pack): Pack | null {
    const tasks = pack.tasks.filter((one) => !this.isStopped(one));
    if (tasks.length === pack.tasks.length) return pack;
    if (tasks.length === 0) return null;
    return { ...pack, tasks, attempts: tasks.reduce((sum, one) => sum + one.attempts.length, 0) };
  }

  private requestOf(pack: Pack): RequestBrief {
    const request = this.prepared.requests[pack.requestIndex];
    if (request === undefined) throw new Error(`no request ${pack.requestIndex} in the plan`);
    return request;
  }

  private isHalted(): boolean {
    return this.halt !== null || this.window.stopped;
  }

  private async watchDeadline(deadlineMs: number): Promise<void> {
    try {
      await workflow.sleep(Math.max(1, deadlineMs - Date.now()), { summary: 'deadline of the run' });
    } catch {
      return;
    }
    await this.stop(
      'timed_out',
      'the run reached its time limit (execution.timeout); `assay resume` goes on from here',
    );
  }

  /** The first stop counts: its state is frozen in the store before anything is cut off. */
  private async stop(state: TerminalState, message: string): Promise<void> {
    if (this.halt !== null) return;
    this.halt = { state, reason: { code: state, phase: 'run', message } };
    this.controls.end();
    await closing.freezeRun({ runId: this.prepared.run.runId, ...this.halt });
    this.scope.cancel();
  }

  /** Waits for the open tasks: for ever while the run goes on, for the grace period once it was stopped. */
  private async drain(): Promise<void> {
    await workflow.condition(() => this.window.openCount === 0 || this.halt !== null);
    if (this.window.openCount === 0) return;
    await workflow.condition(() => this.window.openCount === 0, this.prepared.run.execution.cleanupGraceMs);
  }

  private onProgress(): void {
    this.requests.finish();
    this.showProgress();
  }

  private showProgress(): void {
    const { run, plannedCells, summary } = this.prepared;
    const { totals, openCount } = this.window;
    const { halt, missingKeys } = this;
    workflow.setCurrentDetails(
      formatProgress({
        run,
        plannedCells,
        summary,
        totals,
        openCount,
        pause: this.controls.state.pause,
        halt,
        missingKeys,
      }),
    );
  }
}

function isHistoryLong(): boolean {
  const { historyLength, continueAsNewSuggested } = workflow.workflowInfo();
  return continueAsNewSuggested || historyLength >= DRAIN_AT_EVENTS;
}
