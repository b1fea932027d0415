import { loadavg } from 'node:os';
import { startRun } from '../src/client/start-run.ts';
import { createBuiltInCatalog } from '../src/config/built-in-catalog.ts';
import { loadRun } from '../src/config/load.ts';
import type { Json } from '../src/domain/json.ts';
import { toRunWorkflowId } from '../src/domain/workflow-ids.ts';
import type { RunResult } from '../src/domain/workflow-brief.ts';
import type { BareTemporal } from './bare-temporal.ts';
import { startBash } from './bare-start.ts';
import type { BenchStack } from './bench-stack.ts';
import { createNumbersSuite } from './numbers-suite.ts';

/** Cells of ten model and ten tool steps: nine commands and a `submit`. */
export type AgentWork = { readonly environment: Json; readonly cells: number };

/** Attempts at a time: enough for two cores. */
const WIDTH = 8;

const PARTS = ['worker', 'temporal', 'postgres'] as const;

/**
 * What an agent's cell costs, all parts of the stack, and what a tool call takes: between the two rows of the ledger,
 * and as a step of the workflow, beside a bare start of the same program in the same run. Lines of a Markdown table.
 */
export async function measureAgents(
  bench: BenchStack,
  bare: BareTemporal,
  works: readonly AgentWork[],
): Promise<string> {
  const lines = [
    '| Environment | Cells | CPU ms a cell: worker | Temporal | Postgres | all | Wall ms a cell | Bare start ms | Between ledger rows ms | Step of the workflow ms | Events a step | Activities | Workflow tasks | History bytes a step | Load |',
    `|---|${'---|'.repeat(14)}`,
  ];
  const [first] = works;
  if (first !== undefined) await measureWork(bench, { ...first, cells: 8 });
  for (const work of works) lines.push(await measureWork(bench, work));
  if (first !== undefined) lines.push(await measureBareTemporal(bench, bare, first.cells));
  return lines.join('\n');
}

async function measureWork(bench: BenchStack, { environment, cells }: AgentWork): Promise<string> {
  const bareMs = await measureBare();
  const before = bench.measure();
  const started = performance.now();
  const runId = await runAgents(bench, { environment, cells });
  const wallMs = (performance.now() - started) / cells;
  const after = bench.measure();
  const cpu = PARTS.map((part) => ((after[part].cpuSeconds - before[part].cpuSeconds) * 1_000) / cells);
  const all = cpu.reduce((sum, ms) => sum + ms, 0);
  const history = await readHistory(bench, runId);
  const kind = typeof environment === 'string' ? environment : 'docker';
  const figures = [
    ...[...cpu, all, wallMs].map((ms) => ms.toFixed(0)),
    ...[bareMs, await readLedgerMs(bench, runId), history.stepMs].map((ms) => ms.toFixed(1)),
    ...[history.events, history.activities, history.workflowTasks].map((count) => (count / 10).toFixed(1)),
    Math.round(history.bytes / 10),
    loadavg()[0]?.toFixed(0),
  ];
  return `| \`${kind}\` | ${cells} | ${figures.join(' | ')} |`;
}

async function runAgents({ connection, endpointUrl }: BenchStack, work: AgentWork): Promise<string> {
  const value = {
    name: 'bench-agents',
    providers: [{ id: 'sim', kind: 'openai-compatible', baseUrl: endpointUrl, limits: { concurrency: 64 } }],
    models: [{ id: 'sim', provider: 'sim', model: 'agent' }],
    suite: createNumbersSuite(work.cells),
    harness: { kind: 'agent', tools: ['bash', 'submit'], maxSteps: 20 },
    environment: work.environment,
    execution: { taskConcurrency: WIDTH, seed: 1 },
  };
  const source = { kind: 'document', value, baseDir: process.cwd() } as const;
  const loaded = await loadRun({ source, catalog: createBuiltInCatalog() });
  const { runId } = await startRun(connection, { loaded, runId: null, approved: true });
  const client = await connection.temporal();
  const result = (await client.workflow.getHandle(toRunWorkflowId(runId)).result()) as RunResult;
  if (result.outcomes.scored !== work.cells) throw new Error(JSON.stringify(result));
  return runId;
}

/** Ten times an activity on the queue of a model and one on that of a host, in the same tree; nothing else. */
async function measureBareTemporal(bench: BenchStack, bare: BareTemporal, cells: number): Promise<string> {
  const run = (count: number) =>
    bare.run({
      shape: { cells: count, perTask: 1, width: WIDTH, attempts: true, localRecord: true, agentSteps: 10 },
      model: 'fast',
      endpointUrl: bench.endpointUrl,
    });
  await run(8);
  const before = bench.measure();
  const { seconds, workerCpuSeconds } = await run(cells);
  const serverSeconds = bench.measure().temporal.cpuSeconds - before.temporal.cpuSeconds;
  const toMs = (all: number): string => ((all * 1_000) / cells).toFixed(0);
  const figures = [workerCpuSeconds, serverSeconds, 0, workerCpuSeconds + serverSeconds, seconds].map(toMs);
  return `| bare Temporal | ${cells} | ${figures.join(' | ')} |${' - |'.repeat(8)}`;
}

/** Median of twenty bare starts of what the agent's commands start. */
async function measureBare(): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    const started = performance.now();
    await startBash();
    times.push(performance.now() - started);
  }
  return times.toSorted((a, b) => a - b)[10] ?? 0;
}

/** Median time from the row `started` to the row `completed` of the commands. */
async function readLedgerMs({ connection }: BenchStack, runId: string): Promise<number> {
  const { rows } = await connection.db.query<{ ms: number }>(
    `select percentile_cont(0.5) within group (order by extract(epoch from completed_at - started_at)) * 1000 as ms
     from tool_calls where run_id = $1 and tool = 'bash'`,
    [runId],
  );
  return rows[0]?.ms ?? 0;
}

/** Of the first cell's attempt; a tool step lasts from the answer before it to the next model call. */
async function readHistory({ connection }: BenchStack, runId: string) {
  const client = await connection.temporal();
  const handle = client.workflow.getHandle(`${toRunWorkflowId(runId)}/numbers/sim/case-1/a1`);
  const { historySize = 0 } = await handle.describe();
  const { events: all } = await handle.fetchHistory();
  const events = all ?? [];
  const toMs = (event: (typeof events)[number] | undefined): number =>
    Number(event?.eventTime?.seconds ?? 0) * 1_000 + (event?.eventTime?.nanos ?? 0) / 1e6;
  const scheduled = events.filter((event) => event.activityTaskScheduledEventAttributes);
  const times = scheduled.flatMap((event, index) => {
    const isTool = event.activityTaskScheduledEventAttributes?.activityType?.name === 'runTool';
    const next = scheduled[index + 1];
    return isTool && next !== undefined ? [toMs(next) - toMs(event)] : [];
  });
  return {
    events: events.length,
    activities: scheduled.length,
    workflowTasks: events.filter((event) => event.workflowTaskCompletedEventAttributes).length,
    bytes: historySize,
    stepMs: times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0,
  };
}
