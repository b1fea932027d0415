import { executeChild, proxyActivities, proxyLocalActivities, workflowInfo } from '@temporalio/workflow';

/**
 * `cells` in children of `perTask`, `width` cells at once. `slots` = calls at once where that is another number;
 * `attempts` = a workflow of its own for each cell below its task's; `localRecord` = the record is a local activity;
 * `agentSteps` = each cell is an agent: so many times an activity on the queue of a model and one on that of a host.
 */
export type Shape = {
  readonly cells: number;
  readonly perTask: number;
  readonly width: number;
  readonly slots?: number;
  readonly attempts?: boolean;
  readonly localRecord?: boolean;
  readonly agentSteps?: number;
};

export const MODEL_QUEUE = 'bare-models';
export const HOST_QUEUE = 'bare-host';

type Steps = {
  answer(input: string): Promise<string>;
  record(input: string): Promise<string>;
  tool(input: string): Promise<string>;
};
const { answer, record } = proxyActivities<Steps>({ startToCloseTimeout: '1 minute' });
const onModel = proxyActivities<Steps>({ startToCloseTimeout: '1 minute', taskQueue: MODEL_QUEUE });
const onHost = proxyActivities<Steps>({ startToCloseTimeout: '1 minute', taskQueue: HOST_QUEUE });
const local = proxyLocalActivities<Pick<Steps, 'record'>>({ startToCloseTimeout: '5 s' });

/** Stands for a run: a window of children. */
export async function benchRun(shape: Shape): Promise<void> {
  const { cells, perTask, width } = shape;
  const { workflowId } = workflowInfo();
  const tasks = Math.ceil(cells / perTask);
  await inLanes(tasks, Math.max(1, Math.floor(width / Math.min(perTask, 8))), async (task) => {
    const own = Math.min(perTask, cells - task * perTask);
    await executeChild(benchTask, { workflowId: `${workflowId}/${task}`, args: [{ ...shape, cells: own }] });
  });
}

/** Stands for a task: its cells, at most eight at once. */
export async function benchTask(shape: Shape): Promise<void> {
  const { workflowId } = workflowInfo();
  await inLanes(shape.cells, 8, async (cell) => {
    if (!shape.attempts) return benchAttempt(shape, cell);
    await executeChild(benchAttempt, { workflowId: `${workflowId}/a${cell}`, args: [shape, cell] });
  });
}

/** Stands for an attempt: a model call and a record. */
export async function benchAttempt({ localRecord, agentSteps }: Shape, cell: number): Promise<void> {
  const text = agentSteps === undefined ? await answer(`cell ${cell}`) : await takeSteps(agentSteps);
  await (localRecord ? local : { record }).record(text);
}

/** Stands for the loop of an agent: a model call, then a tool. */
async function takeSteps(count: number): Promise<string> {
  let seen = '';
  for (let step = 1; step <= count; step += 1) seen = await onHost.tool(await onModel.answer(seen));
  return seen;
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
