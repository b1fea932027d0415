import { isTerminal } from '../domain/outcome.ts';
import type { LimitChanges, Sender } from '../domain/run-control.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { loadRun } from '../store/runs.ts';
import type { RunMessage, Steered } from '../workflows/messages.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';

/** What is said to a run: its name and what goes with it. */
export type Steering =
  | { readonly message: Exclude<RunMessage, 'set'>; readonly input: Sender }
  | { readonly message: 'set'; readonly input: LimitChanges };

const ANSWER_MS = 60_000;

/**
 * Approves, rejects, pauses, unpauses a run or sets limits of it, and waits until the run has kept it. What was so
 * before is no error: the answer says `changed: false`. Throws a ClientError, with what to do, when the run has
 * ended, cannot do what is asked, or when no worker answers within a minute.
 */
export async function steerRun(
  connection: AssayConnection,
  runId: string,
  { message, input }: Steering,
): Promise<Steered> {
  const run = await loadRun(connection.db, runId);
  if (run !== null && isTerminal(run.state)) throw toEndedError(runId, message, run.state);
  const workflowId = run?.workflowId ?? toRunWorkflowId(runId);
  const client = await connection.temporal();
  try {
    return await client.connection.withDeadline(Date.now() + ANSWER_MS, () =>
      client.workflow.getHandle(workflowId).executeUpdate<Steered, [object]>(message, { args: [input] }),
    );
  } catch (error) {
    throw await toClientError(error, { runId, message });
  }
}

const toEndedError = (runId: string, message: RunMessage, state: string): ClientError =>
  new ClientError(
    `${toRefusal(message, runId)}: it has ended (${state.replaceAll('_', ' ')}). ` +
      (state === 'completed'
        ? `\`assay report ${runId}\` shows its results.`
        : `\`assay resume ${runId}\` runs what is left of it.`),
  );

const toRefusal = (message: RunMessage, runId: string): string =>
  message === 'set' ? `Cannot set limits of run ${runId}` : `Cannot ${message} run ${runId}`;

async function toClientError(
  error: unknown,
  { runId, message }: { readonly runId: string; readonly message: RunMessage },
): Promise<unknown> {
  const temporal = await import('@temporalio/client');
  if (error instanceof temporal.WorkflowUpdateFailedError) {
    const why = (error.cause?.message ?? error.message).replace(`run ${runId}: `, '');
    return new ClientError(`${toRefusal(message, runId)}: ${why.replace(/\.$/, '')}.`, { cause: error });
  }
  if (error instanceof temporal.WorkflowNotFoundError) {
    return new ClientError(
      `${toRefusal(message, runId)}: its workflow is closed, or this Temporal server does not have it. ` +
        `\`assay show ${runId}\` says how it stands.`,
      { cause: error },
    );
  }
  if (error instanceof temporal.WorkflowUpdateRPCTimeoutOrCancelledError) {
    return new ClientError(
      `Run ${runId} did not answer within ${ANSWER_MS / 1_000} s: no worker seems to run. ` +
        '`assay doctor` says more; say it again when one does.',
      { cause: error },
    );
  }
  return error;
}
