import type { Json } from '../../src/domain/json.ts';
import type { CommandRun } from '../../src/domain/step.ts';
import type { TestAssay } from '../support/assay.ts';
import { begin, loadCells, sums } from './support.ts';

export type Parts = { readonly [key: string]: Json };

/** Shell text is the agent; its prompt is `$1`. */
export const agent = (script: string, more: Parts = {}): Parts => ({
  kind: 'command',
  command: ['sh', '-c', script, 'agent'],
  ...more,
});

/** Priced so that a cost can be told from none; nobody calls it. */
const model = { id: 'm', provider: 'openai', model: 'gpt-x', price: { input: 1, output: 10 } };

/** One request for each agent, each with one case whose answer is 1. */
export const together = (agents: { readonly [name: string]: Parts }, more: Parts = {}): Json => ({
  models: [model],
  requests: Object.entries(agents).map(([name, { request = {}, ...harness }]) => ({
    name,
    suite: sums(1),
    harness,
    environment: 'host',
    ...(request as Parts),
  })),
  execution: { seed: 1 },
  ...more,
});

/** Runs agents side by side and tells what is recorded of each. */
export async function runAgents(
  assay: TestAssay,
  agents: { readonly [name: string]: Parts },
  more: Parts = {},
) {
  const runId = await begin(assay, together(agents, more));
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  const { rows } = await assay.db.query<{ task: number; detail: string; state: string }>(
    'select task, detail, state from command_runs where run_id = $1 order by task, try_number',
    [runId],
  );
  const runs = new Map(
    cells.map(({ task, request }) => [
      request,
      rows.filter((one) => one.task === task).map(({ detail }) => JSON.parse(detail) as CommandRun),
    ]),
  );
  return {
    runId,
    cell: (name: string) => cells.find(({ request }) => request === name),
    reason: (name: string) =>
      JSON.parse(cells.find(({ request }) => request === name)?.detail ?? '{}').reason,
    run: (name: string) => runs.get(name)?.[0],
    starts: (name: string) =>
      rows.filter((one) => one.task === cells.find((cell) => cell.request === name)?.task).length,
  };
}
