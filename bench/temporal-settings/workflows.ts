import { executeChild, proxyActivities, workflowInfo } from '@temporalio/workflow';

/** `cells` in children of `perTask`, `width` cells at once. */
export type Shape = { readonly cells: number; readonly perTask: number; readonly width: number };

const { answer, record } = proxyActivities<{
  answer(input: string): Promise<string>;
  record(input: string): Promise<string>;
}>({ startToCloseTimeout: '1 minute' });

/** Stands for a run: a window of children. */
export async function benchRun({ cells, perTask, width }: Shape): Promise<void> {
  const { workflowId } = workflowInfo();
  const tasks = Math.ceil(cells / perTask);
  await inLanes(tasks, Math.max(1, Math.floor(width / Math.min(perTask, 8))), async (task) => {
    const own = Math.min(perTask, cells - task * perTask);
    await executeChild(benchTask, { workflowId: `${workflowId}/${task}`, args: [own] });
  });
}

/** Stands for a task: a model call and a record for each cell, at most eight cells at once. */
export async function benchTask(cells: number): Promise<void> {
  await inLanes(cells, 8, async (cell) => {
    await record(await answer(`cell ${cell}`));
  });
}

async function inLanes(count: number, lanes: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const index = next;
      next += 1;
      await work(index);
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, count) }, lane));
}
