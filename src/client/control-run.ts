import { setTimeout as sleep } from 'node:timers/promises';
import { estimateOpenUsd, findApprovalNeed, type ApprovalNeed } from '../domain/approval.ts';
import { listOneStepRequests } from '../domain/calls-provider.ts';
import { listKeyNames } from '../domain/key-names.ts';
import type { OutcomeKind, TerminalState } from '../domain/outcome.ts';
import { isTerminal } from '../domain/outcome.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { countCellsByModel, loadOutcomeCounts } from '../store/outcome-counts.ts';
import { loadPlan } from '../store/plans.ts';
import { loadRun, type RunRow } from '../store/runs.ts';
import {
  RUN_WORKFLOW,
  WORKFLOW_QUEUE,
  WORKFLOW_TASK_TIMEOUT,
  type ResumeRequest,
  type RunInput,
} from '../workflows/messages.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';
import { handOverKeys } from './hand-over.ts';

/** What `resume` runs again: everything that was kept from a result, and grading that failed. */
export const RESUMED_OUTCOMES: readonly OutcomeKind[] = [
  'not_run',
  'interrupted',
  'infra',
  'skipped',
  'unscored',
];

/** What `retry` runs again unless it is told: whatever has no score, but tool calls of unknown outcome only by name. */
export const RETRIED_OUTCOMES: readonly OutcomeKind[] = [...RESUMED_OUTCOMES, 'error'];

export type Cancelling =
  | { readonly kind: 'requested' }
  /** It had ended before. */
  | { readonly kind: 'ended'; readonly state: TerminalState };

/**
 * Asks a run to stop with cleanup; ask as often as you like. Also reaches a run that has not been prepared, and
 * any run while the store does not answer. Throws a ClientError when Temporal has no such open workflow.
 */
export async function cancelRun(connection: AssayConnection, runId: string): Promise<Cancelling> {
  const run = await loadRun(connection.db, runId).catch(() => null);
  if (run !== null && isTerminal(run.state)) return { kind: 'ended', state: run.state };
  const workflowId = run?.workflowId ?? toRunWorkflowId(runId);
  const client = await connection.temporal();
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  try {
    const handle = client.workflow.getHandle(workflowId);
    // The server takes a cancellation of a closed workflow without a word.
    const { status } = await handle.describe();
    if (status.name !== 'RUNNING') throw toClosedError(runId, workflowId, status.name);
    await handle.cancel();
    return { kind: 'requested' };
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    throw new ClientError(
      `Run ${runId} cannot be cancelled: this Temporal server has no workflow ${workflowId}. ` +
        'Check that it is the server that the run was started on (`assay doctor`).',
      { cause: error },
    );
  }
}

const toClosedError = (runId: string, workflowId: string, status: string): ClientError =>
  new ClientError(
    `Run ${runId} cannot be cancelled: its workflow ${workflowId} is closed (${status.toLowerCase()}). ` +
      'A worker settles what is left of it within a minute.',
  );

export type RaisedBudgets = Pick<ResumeRequest, 'maxRunUsd' | 'maxModelUsd' | 'maxRunTokens'>;

export type Resumed = {
  readonly runId: string;
  /** Cells that are run or graded again. */
  readonly cells: number;
  /** The generation that they are run in. */
  readonly generation: number;
};

/**
 * Continues a run that ended under its own id: starts its workflow again with what is left as a new generation.
 * Throws a ClientError while the run is open, and when nothing is left to run.
 */
export async function resumeRun(
  connection: AssayConnection,
  {
    run,
    budgets,
    approved = false,
    outcomes = RESUMED_OUTCOMES,
  }: {
    readonly run: RunRow;
    readonly budgets: RaisedBudgets;
    /** Cells whose latest outcome is one of these run again; those of `resume` unless given. */
    readonly outcomes?: readonly OutcomeKind[];
    /** Spending above `budgets.confirmAboveUsd` has been confirmed; else the run may wait for it again. */
    readonly approved?: boolean;
  },
): Promise<Resumed> {
  const cells = await countResumable(connection, run, outcomes);
  const resume: ResumeRequest = { outcomes, ...budgets };
  const { spec } = await loadPlan(connection.db, run.runId);
  const keys = await handOverKeys(connection, listKeyNames(spec));
  const input = { runId: run.runId, resume, approved, ...(keys.length === 0 ? {} : { keys }) };
  await startAgain(connection, run, input);
  return { runId: run.runId, cells, generation: run.generation + 1 };
}

/**
 * What a resume would have to be approved for: the estimate of the cells that it runs again. Null = nobody has to
 * be asked, or the run cannot be resumed, which `resumeRun` says.
 */
export async function findResumeNeed(
  { db }: AssayConnection,
  run: RunRow,
  outcomes: readonly OutcomeKind[] = RESUMED_OUTCOMES,
): Promise<ApprovalNeed | null> {
  if (run.planDigest === null) return null;
  const { spec, estimate } = await loadPlan(db, run.runId);
  if (spec.budgets.confirmAboveUsd === null) return null;
  const oneStepRequests = listOneStepRequests(spec);
  const cells = await countCellsByModel(db, { runId: run.runId, outcomes, oneStepRequests });
  return findApprovalNeed(spec.budgets, estimateOpenUsd(estimate, cells));
}

async function countResumable(
  { db }: AssayConnection,
  run: RunRow,
  outcomes: readonly OutcomeKind[],
): Promise<number> {
  const { runId, state } = run;
  if (!isTerminal(state)) {
    throw new ClientError(
      `Run ${runId} is ${state}: there is nothing to resume. \`assay watch ${runId}\` follows it.`,
    );
  }
  if (run.planDigest === null) {
    throw new ClientError(
      `Run ${runId} ended before it was planned${run.reason === null ? '' : ` (${run.reason})`}: start it again with \`assay run FILE\`.`,
    );
  }
  const counts = await loadOutcomeCounts(db, runId);
  const cells = outcomes.reduce((sum, outcome) => sum + (counts[outcome] ?? 0), 0);
  if (cells > 0) return cells;
  if (outcomes !== RESUMED_OUTCOMES) {
    throw new ClientError(
      `Run ${runId} has no cell that is ${outcomes.join(' or ')}: \`assay report ${runId}\` says what its cells are.`,
    );
  }
  throw new ClientError(
    `Nothing is left to run in ${runId}: every cell has a result. \`assay report ${runId}\` shows them.`,
  );
}

const CLOSING_TRIES = 20;
const CLOSING_WAIT_MS = 500;

/** A run is final in the store a moment before its workflow has closed, so a clash is tried again. */
export async function startAgain(connection: AssayConnection, run: RunRow, input: RunInput): Promise<void> {
  const client = await connection.temporal();
  const { WorkflowExecutionAlreadyStartedError } = await import('@temporalio/client');
  for (let tryNumber = 1; ; tryNumber += 1) {
    try {
      await client.workflow.start(RUN_WORKFLOW, {
        workflowId: run.workflowId,
        taskQueue: WORKFLOW_QUEUE,
        args: [input],
        workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        staticSummary: `evaluation run ${run.name}, resumed`,
      });
      return;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      if (tryNumber >= CLOSING_TRIES) {
        throw new ClientError(`Run ${run.runId} is still cleaning up. Try again in a while.`, {
          cause: error,
        });
      }
      await sleep(CLOSING_WAIT_MS);
    }
  }
}
