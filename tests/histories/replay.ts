import { Worker } from '@temporalio/worker';
import { loadWorkflowBundle } from '../../src/worker/workflow-bundle.ts';
import { BUNDLE_FOLDER } from '../support/bundle-folder.ts';

/** One execution as the server tells it, in Temporal's own JSON. */
export type RecordedHistory = {
  readonly name: string;
  readonly workflowId: string;
  readonly history: unknown;
};

/** Runs today's workflow code against recorded histories, without a server; what does not fit is an error. */
export async function* replay(
  histories: readonly RecordedHistory[],
): AsyncGenerator<{ readonly name: string; readonly error: string | null }> {
  const workflowBundle = await loadWorkflowBundle(BUNDLE_FOLDER);
  const names = new Map(histories.map((one) => [one.workflowId, one.name]));
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    yield { name: names.get(workflowId) ?? workflowId, error: error === undefined ? null : String(error) };
  }
}
