import { Client } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { startBash } from './bare-start.ts';
import { readCpuSeconds } from './cpu.ts';
import { quietRuntime, workflowsPath } from './temporal-settings/measure.ts';
import { HOST_QUEUE, MODEL_QUEUE, type Shape } from './temporal-settings/workflows.ts';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export type BareWork = { readonly shape: Shape; readonly model: string; readonly endpointUrl: string };

export type BareTemporal = {
  /** Wall seconds of the shape on Temporal alone, and CPU seconds of this process meanwhile. */
  readonly run: (work: BareWork) => Promise<{ readonly seconds: number; readonly workerCpuSeconds: number }>;
  readonly close: () => Promise<void>;
};

/**
 * The same calls in the same tree of workflows, on the same server, by a worker of the plain SDK in this process: an
 * activity that calls the endpoint, a local activity that does nothing. No store, no grading, no limits, no search
 * attributes. What Assay adds to it is what Assay costs; what it costs by itself is the price of Temporal here.
 */
export async function startBareTemporal(address: string, namespace: string): Promise<BareTemporal> {
  quietRuntime();
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: silent });
  const connection = await NativeConnection.connect({ address });
  let count = 0;
  return {
    run: async ({ shape, model, endpointUrl }) => {
      const activities = {
        answer: (input: string) => ask(endpointUrl, model, input),
        tool: async () => (await startBash(), ''),
        record: async () => '',
      };
      const create = (taskQueue: string, more: Pick<WorkerOptions, 'workflowBundle'>) =>
        Worker.create({
          connection,
          namespace,
          taskQueue,
          activities,
          maxConcurrentActivityTaskExecutions: shape.slots ?? shape.width,
          ...more,
        });
      const queues = shape.agentSteps === undefined ? [] : [MODEL_QUEUE, HOST_QUEUE];
      const workers = [await create('bare', { workflowBundle })];
      for (const queue of queues) workers.push(await create(queue, {}));
      const client = new Client({ connection, namespace });
      count += 1;
      const workflowId = `bare-${count}`;
      const execute = async () => {
        const [started, cpuBefore] = [performance.now(), readCpuSeconds(process.pid)];
        await client.workflow.execute('benchRun', { workflowId, taskQueue: 'bare', args: [shape] });
        return {
          seconds: (performance.now() - started) / 1_000,
          workerCpuSeconds: readCpuSeconds(process.pid) - cpuBefore,
        };
      };
      return workers.reduceRight((work, worker) => () => worker.runUntil(work), execute)();
    },
    close: () => connection.close(),
  };
}

async function ask(endpointUrl: string, model: string, input: string): Promise<string> {
  const response = await fetch(`${endpointUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: input }] }),
  });
  return JSON.stringify(await response.json());
}
