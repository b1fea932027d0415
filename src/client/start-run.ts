import { listKeyNames } from '../domain/key-names.ts';
import { toRunWorkflowId } from '../domain/workflow-ids.ts';
import { toDocument } from '../config/document.ts';
import type { LoadedRun } from '../config/load.ts';
import { saveBlob } from '../store/blobs.ts';
import { loadRun } from '../store/runs.ts';
import type { ReuseRequest } from '../domain/reuse.ts';
import { RUN_WORKFLOW, WORKFLOW_QUEUE, WORKFLOW_TASK_TIMEOUT, type RunInput } from '../workflows/messages.ts';
import type { AssayConnection } from './connect.ts';
import { handOverKeys } from './hand-over.ts';
import { createRunId } from './run-id.ts';

export type RunStart = {
  readonly loaded: LoadedRun;
  /** The same id attaches to that run. Null = a new one. */
  readonly runId: string | null;
  /** Spending above `budgets.confirmAboveUsd` has been confirmed. */
  readonly approved: boolean;
  /** Takes the scored cells of that run whose fingerprints match. */
  readonly reuse?: ReuseRequest;
};

export type StartedRun = {
  readonly runId: string;
  readonly workflowId: string;
  /** The run was there already, open or ended; nothing was started. */
  readonly attached: boolean;
};

/**
 * Stores a run's document with everything that it names, then starts its workflow. Rows are written by the
 * workflow. A run of that id that exists, even one that has ended, is returned as it is.
 */
export async function startRun(connection: AssayConnection, start: RunStart): Promise<StartedRun> {
  const runId = start.runId ?? createRunId(start.loaded.spec.name, new Date());
  const workflowId = toRunWorkflowId(runId);
  const attached = { runId, workflowId, attached: true };
  if (start.runId !== null && (await loadRun(connection.db, runId)) !== null) return attached;
  const { WorkflowExecutionAlreadyStartedError } = await import('@temporalio/client');
  const client = await connection.temporal();
  const documentDigest = await storeDocument(connection, start.loaded);
  const keys = await handOverKeys(connection, listKeyNames(start.loaded.spec));
  const input: RunInput = {
    runId,
    documentDigest,
    approved: start.approved,
    ...(start.reuse === undefined ? {} : { reuse: start.reuse }),
    ...(keys.length === 0 ? {} : { keys }),
  };
  try {
    await client.workflow.start(RUN_WORKFLOW, {
      workflowId,
      taskQueue: WORKFLOW_QUEUE,
      args: [input],
      workflowTaskTimeout: WORKFLOW_TASK_TIMEOUT,
      workflowIdConflictPolicy: 'USE_EXISTING',
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      staticSummary: `evaluation run ${start.loaded.spec.name}`,
    });
    return { ...attached, attached: false };
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return attached;
    throw error;
  }
}

async function storeDocument(connection: AssayConnection, loaded: LoadedRun): Promise<string> {
  const { document, blobs } = toDocument(loaded);
  for (const bytes of blobs.values()) await saveBlob(connection.db, bytes);
  return saveBlob(connection.db, Buffer.from(JSON.stringify(document)));
}
