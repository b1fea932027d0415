import * as workflow from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { toRefusal, type ApprovalNeed, type Decision } from '../domain/approval.ts';
import { formatChange, type LimitChange } from '../domain/limit-change.ts';
import type { Reason, RunState } from '../domain/outcome.ts';
import {
  endPause,
  findLimitProblem,
  findSenderProblem,
  toDeadlineMs,
  toSender,
  type LimitChanges,
  type RunControlState,
  type Sender,
} from '../domain/run-control.ts';
import type { RunBrief } from '../domain/workflow-brief.ts';
import { closing } from './activities.ts';
import type { Steered } from './messages.ts';

/**
 * What people may say to a run while it goes on, and what of it holds. One message is handled after the other,
 * and answered when the store has it. Lives from the first line of the run's workflow on: messages that come
 * early find their handlers.
 */
export class RunControls {
  readonly runId: string;
  /** Told after each change: what runs must learn of it. */
  onChange: () => void = () => undefined;
  private phase: 'preparing' | 'awaiting_approval' | 'running' | 'finalizing' = 'preparing';
  private held: RunControlState | null;
  private decision: Decision | null = null;
  private decided = false;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(runId: string, carried: RunControlState | null) {
    this.runId = runId;
    this.held = carried;
    if (carried !== null) this.phase = 'running';
  }

  get state(): RunControlState {
    if (this.held === null) throw new Error('the run has not started');
    return this.held;
  }

  get paused(): boolean {
    return this.held?.pause != null;
  }

  get runState(): RunState {
    return this.phase === 'running' && this.paused ? 'paused' : this.phase;
  }

  get deadlineMs(): number | null {
    return this.held === null ? null : toDeadlineMs(this.held);
  }

  /** The run starts to work now; limits are those of its run file. */
  open({ execution }: RunBrief, startedAtMs: number): void {
    const { taskConcurrency, timeoutMs } = execution;
    this.held = { taskConcurrency, timeoutMs, startedAtMs, pausedMs: 0, pause: null };
    this.phase = 'running';
  }

  /** Until then a message can only be checked for its shape; afterwards it is checked again. */
  async prepared(): Promise<void> {
    await workflow.condition(() => this.phase !== 'preparing');
  }

  /** From here on nothing can be steered: the run is ending. */
  end(): void {
    this.phase = 'finalizing';
  }

  /** Waits for somebody's word, or for its expiry. Null = approved; else why the run ends as cancelled. */
  async awaitApproval(need: ApprovalNeed): Promise<Reason | null> {
    this.phase = 'awaiting_approval';
    await workflow.condition(() => this.decision !== null, need.expiryMs, { summary: 'approval expires' });
    const decision = (this.decision ??= { kind: 'expired', by: null, note: null });
    const { kind: _, ...sender } = decision;
    const origin = { runId: this.runId, key: toDecisionKey(), ...sender };
    await workflow.CancellationScope.nonCancellable(() => closing.decideRun({ origin, decision }));
    this.phase = decision.kind === 'approved' ? 'running' : 'finalizing';
    this.decided = true;
    return decision.kind === 'approved' ? null : toRefusal(decision, need);
  }

  /** Why a decision cannot be taken now, or null. The same decision again is no problem. */
  findDecisionProblem(kind: 'approved' | 'rejected', input: unknown): string | null {
    const { decision, phase } = this;
    if (decision?.kind === kind) return findSenderProblem(input);
    if (decision !== null)
      return `it was ${decision.kind}${decision.by === null ? '' : ` by ${decision.by}`} before`;
    if (phase !== 'awaiting_approval' && phase !== 'preparing')
      return `it does not wait for approval, it is ${this.runState}`;
    return findSenderProblem(input);
  }

  async decide(kind: 'approved' | 'rejected', sender: Sender): Promise<Steered> {
    const changed = this.decision === null;
    this.decision ??= { kind, ...toSender(sender) };
    await workflow.condition(() => this.decided);
    const what = kind === 'approved' ? 'approved: it runs' : 'rejected: it ends as cancelled';
    return this.answer(changed, `run ${this.runId} is ${what}`);
  }

  findPauseProblem(input: unknown): string | null {
    return this.findPhaseProblem() ?? findSenderProblem(input);
  }

  pause(sender: Sender): Promise<Steered> {
    return this.inTurn(async () => {
      const { runId } = this;
      if (this.paused)
        return this.answer(false, `run ${runId} is paused already; \`assay unpause ${runId}\` goes on`);
      this.held = { ...this.state, pause: { sinceMs: Date.now(), ...toSender(sender) } };
      this.onChange();
      await closing.pauseRun({ origin: this.toOrigin(sender), paused: true });
      return this.answer(
        true,
        `run ${runId} is paused: nothing new starts, what runs goes on; \`assay unpause ${runId}\` goes on`,
      );
    });
  }

  unpause(sender: Sender): Promise<Steered> {
    return this.inTurn(async () => {
      if (!this.paused) return this.answer(false, `run ${this.runId} is not paused`);
      await closing.pauseRun({ origin: this.toOrigin(sender), paused: false });
      this.held = endPause(this.state, Date.now());
      this.onChange();
      return this.answer(true, `run ${this.runId} goes on`);
    });
  }

  findSetProblem(input: unknown): string | null {
    return this.findPhaseProblem() ?? findLimitProblem(input) ?? this.findTimeProblem(input as LimitChanges);
  }

  /** The store decides first: caps that it refuses leave everything as it was. */
  set(wanted: LimitChanges): Promise<Steered> {
    return this.inTurn(async () => {
      const given = this.listGiven(wanted);
      const { changes } = await changeLimits({ origin: this.toOrigin(wanted), changes: wanted, given });
      const { taskConcurrency = this.state.taskConcurrency, timeoutMs = this.state.timeoutMs } = wanted;
      this.held = { ...this.state, taskConcurrency, timeoutMs };
      this.onChange();
      const what = changes.length === 0 ? 'it was set so before' : changes.map(formatChange).join(', ');
      return { ...this.answer(changes.length > 0, `run ${this.runId}: ${what}`), changes };
    });
  }

  private findPhaseProblem(): string | null {
    switch (this.phase) {
      case 'awaiting_approval':
        return 'it waits for approval: approve or reject it first';
      case 'finalizing':
        return 'it is ending';
      case 'preparing':
      case 'running':
        return null;
    }
  }

  private findTimeProblem({ timeoutMs }: LimitChanges): string | null {
    if (this.held === null) return null;
    const deadlineMs = toDeadlineMs({ ...endPause(this.held, Date.now()), timeoutMs: timeoutMs ?? null });
    if (timeoutMs == null || deadlineMs === null || deadlineMs > Date.now()) return null;
    return `timeoutMs: the run has gone on for longer than ${timeoutMs} ms; \`assay cancel\` stops it`;
  }

  private listGiven({ taskConcurrency, timeoutMs }: LimitChanges): readonly LimitChange[] {
    const { state } = this;
    const given: LimitChange[] = [];
    if (taskConcurrency !== undefined && taskConcurrency !== state.taskConcurrency) {
      given.push({
        limit: 'taskConcurrency',
        from: String(state.taskConcurrency),
        to: String(taskConcurrency),
      });
    }
    if (timeoutMs !== undefined && timeoutMs !== state.timeoutMs) {
      given.push({ limit: 'timeoutMs', from: toText(state.timeoutMs), to: toText(timeoutMs) });
    }
    return given;
  }

  /** The update's own id, so that a retried activity records it once; a signal has none. */
  private toOrigin(sender: Sender) {
    return {
      runId: this.runId,
      key: workflow.currentUpdateInfo()?.id ?? workflow.uuid4(),
      ...toSender(sender),
    };
  }

  private answer(changed: boolean, message: string): Steered {
    return { runId: this.runId, state: this.runState, changed, message, changes: [] };
  }

  /** One after the other; a cancelled run still answers. */
  private inTurn(work: () => Promise<Steered>): Promise<Steered> {
    const next = this.turn.then(() => workflow.CancellationScope.nonCancellable(work));
    this.turn = next.catch(() => undefined);
    return next;
  }
}

/** A run is decided on once in each generation, which has a workflow execution of its own. */
const toDecisionKey = (): string => `approval/${workflow.workflowInfo().firstExecutionRunId}`;

/** A refusal answers with its own words, not as an activity that failed. */
const changeLimits: Activities['changeLimits'] = async (wanted) => {
  try {
    return await closing.changeLimits(wanted);
  } catch (error) {
    const cause = error instanceof workflow.ActivityFailure ? error.cause : undefined;
    if (!(cause instanceof workflow.ApplicationFailure)) throw error;
    throw workflow.ApplicationFailure.nonRetryable(`run ${wanted.origin.runId}: ${cause.message}`, 'Refused');
  }
};

const toText = (value: number | null): string | null => (value === null ? null : String(value));
