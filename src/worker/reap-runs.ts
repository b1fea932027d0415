import { WorkflowNotFoundError, type Client, type WorkflowExecutionStatusName } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Dependencies } from '../activities/dependencies.ts';
import { settleRun } from '../activities/run-ends.ts';
import type { Reason, TerminalState } from '../domain/outcome.ts';
import { listRuns, loadRun } from '../store/runs.ts';

export type RunReaping = {
  readonly client: Client;
  readonly dependencies: Pick<Dependencies, 'db'>;
  readonly logger: Logger;
};

/**
 * Settles runs whose workflow was ended from outside (terminated, say) before it could settle them: every open
 * cell gets its outcome, so that the row is final and `assay resume` goes on. A workflow that this Temporal
 * server does not know may live on another one, and its run is left alone.
 */
export async function reapRuns({ client, dependencies, logger }: RunReaping): Promise<void> {
  for (const { runId, workflowId } of await listRuns(dependencies.db, { openOnly: true })) {
    const status = await findStatus(client, workflowId);
    const state = status === null ? undefined : ENDS[status];
    // Read again: a workflow settles its run a moment before it closes.
    if (state === undefined || (await loadRun(dependencies.db, runId))?.finishedAt !== null) continue;
    const freeze = { state, reason: toReason(state, workflowId) };
    await settleRun(dependencies, { runId, freeze, faults: [] });
    logger.warn({ runId, state }, 'settled a run whose workflow had ended without doing so');
  }
}

async function findStatus(client: Client, workflowId: string): Promise<WorkflowExecutionStatusName | null> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return null;
    throw error;
  }
}

/** What a run ends as whose workflow has such a status; one that goes on has none of them. */
const ENDS: { readonly [status in WorkflowExecutionStatusName]?: TerminalState } = {
  CANCELLED: 'cancelled',
  TIMED_OUT: 'timed_out',
  TERMINATED: 'failed',
  FAILED: 'failed',
  COMPLETED: 'failed',
};

const toReason = (state: TerminalState, workflowId: string): Reason => ({
  code: 'workflow_ended',
  phase: 'run',
  message: `workflow ${workflowId} was ended from outside (${state}) before the run was over; \`assay resume\` goes on from here`,
});
