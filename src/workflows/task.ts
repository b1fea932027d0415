import * as workflow from '@temporalio/workflow';
import type { OutcomeKind } from '../domain/outcome.ts';
import { addOutcome } from '../domain/tally.ts';
import {
  toStoppedKey,
  type AttemptInput,
  type StoppedModels,
  type Tally,
  type TaskInput,
  type TaskResult,
} from '../domain/workflow-brief.ts';
import { toAttemptWorkflowId, toTaskWorkflowId } from '../domain/workflow-ids.ts';
import { summarize } from './activities.ts';
import { toTaskAttributes } from './search-attributes.ts';
import { FIRST_TRY, runAttempt, type attempt, type AttemptEnd } from './attempt.ts';
import { describeFault } from './describe-fault.ts';
import {
  PLACES_FREED,
  RUN_CHANGED,
  WORKFLOW_TASK_TIMEOUT,
  type PlacesFreed,
  type RunChanged,
} from './messages.ts';
import { PauseGate } from './pause-gate.ts';
import { formatTaskProgress } from './progress.ts';

/** Attempts that run one after another: all of a task under `pass`, a single one under `avg`. */
type Chain = readonly AttemptInput[];

/**
 * Workflow `task`: one heavy task, id `run/<run>/<request>/<model>/<case>`, or up to 25 light ones, id
 * `run/<run>/<request>/tasks/<from>-<to>`. Runs at most as many attempts at once as it holds places, gives
 * places back to its run by signal when it has nothing left to start, and takes more by signal. Its run
 * signals pauses, and it passes them on to the attempts that are workflows of their own. Owns
 * nothing that needs cleaning up: sessions belong to attempts. Its run cancels it; attempts that are cut
 * off stay unrecorded and are settled by the run. Short enough never to continue as new.
 */
export async function task(input: TaskInput): Promise<TaskResult> {
  const pool = new Pool(input);
  workflow.setHandler(workflow.defineSignal<[RunChanged]>(RUN_CHANGED), (change) => pool.change(change));
  try {
    await pool.run();
  } finally {
    await workflow.CancellationScope.nonCancellable(() => pool.drain());
  }
  return pool.result();
}

/** The attempts of one task workflow under its places. */
class Pool {
  private readonly input: TaskInput;
  private readonly chains: readonly Chain[];
  private places: number;
  private running = 0;
  private unstarted: number;
  private stopped = false;
  private unreportedPlaces = 0;
  private tally: Tally = {};
  private passed = 0;
  private stoppedModels: StoppedModels = {};
  private readonly faults: string[] = [];
  private readonly gate = new PauseGate();
  private readonly children = new Set<workflow.ChildWorkflowHandle<typeof attempt>>();

  constructor(input: TaskInput) {
    this.input = input;
    this.chains = toChains(input);
    this.places = input.places;
    this.unstarted = this.chains.length;
    this.showProgress();
  }

  /** Places taken back are missed as attempts end: what runs goes on. */
  change(change: RunChanged): void {
    const wasClosed = this.gate.isClosed;
    this.gate.change(change);
    this.stopped ||= change.stopped;
    if (wasClosed !== this.gate.isClosed || change.stopped)
      this.children.forEach((child) => void tell(child, this.gate));
    this.places += change.places;
    while (this.startNext());
    const idle = this.places - this.running;
    if (this.isSpent() && idle > 0) this.giveBack(idle);
  }

  async run(): Promise<void> {
    while (this.startNext());
    await workflow.condition(() => this.running === 0 && this.isSpent());
  }

  /** Nothing is left to start. */
  private isSpent(): boolean {
    return this.stopped || this.unstarted === 0;
  }

  /** Starts nothing more and waits for what runs. */
  async drain(): Promise<void> {
    this.stopped ||= this.unstarted > 0;
    await workflow.condition(() => this.running === 0);
  }

  result(): TaskResult {
    const { tally, passed, stopped } = this;
    return { tally, passed, stopped, ...this.listStoppedModels(), faults: this.faults.slice(0, 5) };
  }

  /**
   * Called where a place becomes free, never from a `condition`: on replay several local activities may
   * end in one activation that ended in several before, and a condition would see other states in between.
   */
  private startNext(): boolean {
    this.skipStopped();
    const chain = this.chains[this.chains.length - this.unstarted];
    if (chain === undefined || this.stopped || this.gate.isClosed || this.running >= this.places)
      return false;
    this.running += 1;
    this.unstarted -= 1;
    void this.runChain(chain);
    return true;
  }

  /** Cells of an engine that is down are recorded by the store, or started once more by the run. */
  private skipStopped(): void {
    for (;;) {
      const next = this.chains[this.chains.length - this.unstarted]?.[0];
      if (next === undefined || next.graded === true || !(toKey(next) in this.stoppedModels)) return;
      this.unstarted -= 1;
    }
  }

  private listStoppedModels(): Pick<TaskResult, 'stoppedModels'> {
    return Object.keys(this.stoppedModels).length === 0 ? {} : { stoppedModels: this.stoppedModels };
  }

  /** Never rejects: what breaks an attempt leaves its cell unrecorded, and the run names it. */
  private async runChain(chain: Chain): Promise<void> {
    try {
      for (const one of chain) {
        if (this.gate.isClosed) await this.gate.pass();
        if (this.stopped) return;
        const end = await this.startAttempt(one);
        if (end.kind === 'continue') throw new Error('a light attempt does not continue as new');
        const { result } = end;
        if (result.outcome !== null) this.count(result.outcome, result.pass);
        if (result.stopped === 'run') this.stopped = true;
        if (result.stopped === 'engine')
          this.stoppedModels = { ...this.stoppedModels, [toKey(one)]: result.heldUntilMs ?? null };
        if (result.stopped !== null || (one.request.strategy === 'pass' && result.pass)) return;
      }
    } catch (error) {
      if (!workflow.isCancellation(error)) this.faults.push(describe(chain, error));
    } finally {
      this.running -= 1;
      if (!this.startNext() && this.isSpent()) this.giveBack(1);
    }
  }

  /** The same function in every place: inline for light attempts, else in a child workflow of its own. */
  private startAttempt(input: AttemptInput): Promise<AttemptEnd> {
    const { light, sessionScorers } = input.request;
    const isSmall = light || (input.graded === true && !sessionScorers);
    return isSmall && input.run.execution.packing === 'auto'
      ? runAttempt(input, FIRST_TRY, { gate: this.gate })
      : this.runChild(input);
  }

  private async runChild(input: AttemptInput): Promise<AttemptEnd> {
    const child = await startChild(input);
    this.children.add(child);
    try {
      // A pause that came while it was being started.
      if (this.gate.isClosed) await tell(child, this.gate);
      return { kind: 'done', result: await child.result() };
    } finally {
      this.children.delete(child);
    }
  }

  private count(outcome: OutcomeKind, pass: boolean): void {
    this.tally = addOutcome(this.tally, outcome);
    if (pass) this.passed += 1;
    this.showProgress();
  }

  /** Reports in batches of a quarter of the places; the result tells the rest. */
  private giveBack(places: number): void {
    this.places -= places;
    this.unreportedPlaces += places;
    const batch = Math.max(1, Math.floor(this.input.places / 4));
    if (this.running === 0 || this.unreportedPlaces < batch) return;
    const { parent, workflowId } = workflow.workflowInfo();
    if (parent === undefined) return;
    const { tally, passed, stopped } = this;
    const counts = { tally, passed, stopped, ...this.listStoppedModels() };
    const report: PlacesFreed = { workflowId, places: this.unreportedPlaces, ...counts };
    this.unreportedPlaces = 0;
    void workflow
      .getExternalWorkflowHandle(parent.workflowId)
      .signal(PLACES_FREED, report)
      .catch(() => undefined);
  }

  private showProgress(): void {
    const { tally, passed } = this;
    const attempts = this.chains.reduce((sum, chain) => sum + chain.length, 0);
    workflow.setCurrentDetails(formatTaskProgress({ attempts, tally, passed }));
  }
}

const toKey = ({ request, modelId }: AttemptInput): string => toStoppedKey(request.index, modelId);

function toChains(input: TaskInput): readonly Chain[] {
  const { run, request } = input;
  const perTask = input.tasks.map((one): Chain =>
    one.attempts.map((attempt) => ({
      run,
      request,
      task: one.task,
      modelId: one.modelId,
      caseId: one.caseId,
      attempt,
      ...(one.graded?.includes(attempt) === true ? { graded: true } : {}),
    })),
  );
  return request.strategy === 'pass' ? perTask : perTask.flat().map((one) => [one]);
}

function startChild(input: AttemptInput): Promise<workflow.ChildWorkflowHandle<typeof attempt>> {
  const { run, request, modelId, caseId } = input;
  const taskId = toTaskWorkflowId({ ...run, requestName: request.name, modelId, caseId });
  return workflow.startChild<typeof attempt>('attempt', {
    workflowId: toAttemptWorkflowId(taskId, input.attempt),
    args: [input],
    parentClosePolicy: 'REQUEST_CANCEL',
    workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
    staticSummary: summarize(`attempt ${input.attempt} of ${request.k}: ${modelId} on ${caseId}`),
    ...toTaskAttributes(run, request, [input]),
  });
}

/** An attempt that has ended meanwhile needs to know nothing. */
const tell = (child: workflow.ChildWorkflowHandle<typeof attempt>, gate: PauseGate): Promise<void> =>
  child
    .signal<[RunChanged]>(RUN_CHANGED, { places: 0, paused: gate.isClosed, stopped: gate.isStopped })
    .catch(() => undefined);

const describe = (chain: Chain, error: unknown): string => {
  const first = chain[0];
  return `${first?.modelId} · ${first?.caseId} · a${first?.attempt}: ${describeFault(error)}`;
};
