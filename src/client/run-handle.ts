import type { Json } from '../domain/json.ts';
import type { OutcomeKind, RunState } from '../domain/outcome.ts';
import { isTerminal } from '../domain/outcome.ts';
import type { LimitChanges, Sender } from '../domain/run-control.ts';
import type { Report } from '../reports/report-schema.ts';
import { listAttemptRows, type AttemptRow } from '../store/attempt-rows.ts';
import { loadOutcomeCounts } from '../store/outcome-counts.ts';
import { loadRun } from '../store/runs.ts';
import type { Steered } from '../workflows/messages.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import {
  cancelRun,
  resumeRun,
  RETRIED_OUTCOMES,
  type Cancelling,
  type RaisedBudgets,
  type Resumed,
} from './control-run.ts';
import { findRun } from './find-run.ts';
import type { RunProgress } from './progress.ts';
import { loadReport } from './report.ts';
import { steerRun } from './steer-run.ts';
import { watchRun } from './watch-run.ts';

/** How a run ended. */
export type RunEnd = {
  readonly runId: string;
  readonly state: RunState;
  /** Why it was stopped, one sentence; null when it completed. */
  readonly reason: string | null;
  /** Cells by outcome, each in its latest generation. */
  readonly outcomes: { readonly [K in OutcomeKind]?: number };
};

export type FollowOptions = {
  /** Ends the wait; the run goes on. */
  readonly signal?: AbortSignal;
  /** Time between two looks at the store, in ms; 500 unless given. */
  readonly pollMs?: number;
};

const ROWS_PER_PAGE = 500;

/** One run: to follow, to steer, and to read. Everything that it says comes from the store. */
export class RunHandle {
  readonly runId: string;
  private readonly connection: AssayConnection;
  /** What is awaited is the end of this generation, not of an earlier one. */
  private generation = 1;

  constructor(connection: AssayConnection, runId: string) {
    this.connection = connection;
    this.runId = runId;
  }

  /** Waits until the run has ended, however it ends; a run that awaits approval or is paused is waited for. */
  async result(options: FollowOptions = {}): Promise<RunEnd> {
    let last: RunProgress | null = null;
    for await (const progress of this.watch(options)) last = progress;
    options.signal?.throwIfAborted();
    if (last === null || !isTerminal(last.state)) {
      throw new ClientError(`Run ${this.runId} has not ended (it is ${last?.state ?? 'not there'}).`);
    }
    const outcomes = await loadOutcomeCounts(this.connection.db, this.runId);
    return { runId: this.runId, state: last.state, reason: last.reason, outcomes };
  }

  /** Where the run stands now, by request and model; null = it has just been started and has no row yet. */
  async progress(): Promise<RunProgress | null> {
    for await (const progress of this.watch({ signal: AbortSignal.timeout(2_000), pollMs: 50 }))
      return progress;
    return null;
  }

  /** The progress again and again until the run has ended; the last one is of its final state. */
  watch({ signal, pollMs = 500 }: FollowOptions = {}): AsyncIterable<RunProgress> {
    const { runId, generation } = this;
    const watched = { runId, generation };
    return watchRun(this.connection, watched, {
      signal: signal ?? new AbortController().signal,
      pollMs,
      onTrouble: () => undefined,
    });
  }

  /** Asks the run to stop with cleanup; `result` waits for its end. */
  cancel(): Promise<Cancelling> {
    return cancelRun(this.connection, this.runId);
  }

  /** Starts nothing more: no task, attempt or try. What runs goes on, and the deadline waits. */
  pause(input: Sender = {}): Promise<Steered> {
    return steerRun(this.connection, this.runId, { message: 'pause', input });
  }

  unpause(input: Sender = {}): Promise<Steered> {
    return steerRun(this.connection, this.runId, { message: 'unpause', input });
  }

  /** Changes limits while the run goes on, all or none; caps on spending can only be raised. */
  set(input: LimitChanges): Promise<Steered> {
    return steerRun(this.connection, this.runId, { message: 'set', input });
  }

  /** Lets a run start that awaits approval. */
  approve(input: Sender = {}): Promise<Steered> {
    return steerRun(this.connection, this.runId, { message: 'approve', input });
  }

  /** Ends a run that awaits approval as cancelled. */
  reject(input: Sender = {}): Promise<Steered> {
    return steerRun(this.connection, this.runId, { message: 'reject', input });
  }

  /** Continues a run that ended early, as a new generation: what has no result runs again. */
  async resume({
    approved = false,
    ...budgets
  }: RaisedBudgets & { readonly approved?: boolean } = {}): Promise<Resumed> {
    const run = await findRun(this.connection.db, this.runId);
    const resumed = await resumeRun(this.connection, { run, budgets, approved });
    this.generation = resumed.generation;
    return resumed;
  }

  /** Runs exactly the cells again whose latest outcome is named, as a new generation; earlier rows stay visible. */
  async retry({
    only = RETRIED_OUTCOMES,
    approved = false,
    ...budgets
  }: RaisedBudgets & {
    readonly only?: readonly OutcomeKind[];
    readonly approved?: boolean;
  } = {}): Promise<Resumed> {
    const run = await findRun(this.connection.db, this.runId);
    const retried = await resumeRun(this.connection, { run, budgets, approved, outcomes: only });
    this.generation = retried.generation;
    return retried;
  }

  /**
   * Grades the recorded answers again as a new score version, and runs nothing: by the given scorers, as run files
   * write them, or by those of the run file once more. Attempts whose scorers looked into their session say that only
   * running them again grades them.
   */
  async score({
    scorers,
    baseDir = process.cwd(),
  }: { readonly scorers?: Json; readonly baseDir?: string } = {}): Promise<Resumed> {
    const { scoreRun } = await import('./score-run.ts');
    const run = await findRun(this.connection.db, this.runId);
    const read = scorers === undefined ? null : { value: scorers, baseDir };
    const graded = await scoreRun(this.connection, { run, read });
    this.generation = graded.generation;
    return graded;
  }

  /** Every planned cell in its latest generation, by task and attempt; read in pages, so that memory stays flat. */
  async *rows(): AsyncGenerator<AttemptRow, void> {
    let after = { task: 0, attempt: 0 };
    for (;;) {
      const page = await listAttemptRows(this.connection.db, {
        runId: this.runId,
        after,
        limit: ROWS_PER_PAGE,
      });
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < ROWS_PER_PAGE) return;
      after = { task: last.task, attempt: last.attempt };
    }
  }

  /** The leaderboard with its figures, as `assay report --format json` prints it; live runs included. */
  report(): Promise<Report> {
    return loadReport(this.connection, this.runId);
  }

  /** The state of the run's row; null = it has just been started and has none yet. */
  async state(): Promise<RunState | null> {
    return (await loadRun(this.connection.db, this.runId))?.state ?? null;
  }
}
