import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { readStackFile } from '../../src/local/stack-file.ts';

/** Executions of one type that a run has started, as the local server lists them once the list stands still. */
export async function countWorkflows(
  dataDir: string,
  query: { readonly runId: string; readonly type: 'task' | 'attempt' },
): Promise<number> {
  const port = readStackFile(dataDir)?.temporal?.port;
  const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
  try {
    const { workflow } = new Client({ connection });
    const ask = () => workflow.count(`AssayRun = "${query.runId}" AND WorkflowType = "${query.type}"`);
    for (let [former, now] = [-1, (await ask()).count]; ; [former, now] = [now, (await ask()).count]) {
      if (former === now) return now;
      await sleep(500);
    }
  } finally {
    await connection.close();
  }
}
