import { Client } from '@temporalio/client';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { quietRuntime, workflowsPath } from './temporal-settings/measure.ts';
import type { Shape } from './temporal-settings/workflows.ts';

const silent = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export type BareWork = { readonly shape: Shape; readonly model: string; readonly endpointUrl: string };

export type BareTemporal = {
  /** Wall seconds of the shape on Temporal alone. */
  readonly run: (work: BareWork) => Promise<number>;
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
      const worker = await Worker.create({
        connection,
        namespace,
        taskQueue: 'bare',
        workflowBundle,
        activities: { answer: (input: string) => ask(endpointUrl, model, input), record: async () => '' },
        maxConcurrentActivityTaskExecutions: shape.slots ?? shape.width,
      });
      const client = new Client({ connection, namespace });
      count += 1;
      const workflowId = `bare-${count}`;
      return worker.runUntil(async () => {
        const started = performance.now();
        await client.workflow.execute('benchRun', { workflowId, taskQueue: 'bare', args: [shape] });
        return (performance.now() - started) / 1000;
      });
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
