import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection, type WorkflowClient } from '@temporalio/client';
import { toRunWorkflowId } from '../../src/domain/workflow-ids.ts';
import { readStackFile } from '../../src/local/stack-file.ts';

/** Executions of one type that a run has started, as the local server lists them once the list stands still. */
export const countWorkflows = (
  dataDir: string,
  query: { readonly runId: string; readonly type: 'task' | 'attempt' },
): Promise<number> =>
  withClient(dataDir, (workflow) =>
    readStill(
      async () =>
        (await workflow.count(`AssayRun = "${query.runId}" AND WorkflowType = "${query.type}"`)).count,
    ),
  );

/** Sizes of the histories of all executions of a run. */
export type HistorySizes = {
  readonly executions: number;
  /** Of the run's own workflow: more than one when it continued as new. */
  readonly runExecutions: number;
  readonly mostEvents: number;
  readonly mostBytes: number;
};

/** Looks at every execution of a run that has ended, once the list of closed ones stands still. */
export const measureHistories = (dataDir: string, runId: string): Promise<HistorySizes> =>
  withClient(dataDir, async (workflow) => {
    const root = toRunWorkflowId(runId);
    const query = `(RootWorkflowId = '${root}' OR WorkflowId = '${root}') AND ExecutionStatus != 'Running'`;
    await readStill(async () => (await workflow.count(query)).count);
    const sizes = { executions: 0, runExecutions: 0, mostEvents: 0, mostBytes: 0 };
    for await (const { workflowId, historyLength, historySize } of workflow.list({ query })) {
      sizes.executions += 1;
      if (workflowId === root) sizes.runExecutions += 1;
      sizes.mostEvents = Math.max(sizes.mostEvents, historyLength);
      sizes.mostBytes = Math.max(sizes.mostBytes, historySize ?? 0);
    }
    return sizes;
  });

/** A figure of the visibility store, which runs after the executions, once two looks at it agree. */
async function readStill(ask: () => Promise<number>): Promise<number> {
  for (let [former, now] = [-1, await ask()]; ; [former, now] = [now, await ask()]) {
    if (former === now) return now;
    await sleep(500);
  }
}

async function withClient<T>(dataDir: string, work: (client: WorkflowClient) => Promise<T>): Promise<T> {
  const port = readStackFile(dataDir)?.temporal?.port;
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  try {
    return await work(new Client({ connection }).workflow);
  } finally {
    await connection.close();
  }
}
