import { parseArgs } from 'node:util';
import Table from 'cli-table3';
import { startRun } from '../src/client/start-run.ts';
import { createBuiltInCatalog } from '../src/config/built-in-catalog.ts';
import { loadRun } from '../src/config/load.ts';
import { toRunWorkflowId } from '../src/domain/workflow-ids.ts';
import type { RunResult } from '../src/domain/workflow-brief.ts';
import { findEngineProblem, IMAGE, startEngine } from '../tests/environments/docker-subject.ts';
import { measureAgents } from './agents.ts';
import { startBareTemporal } from './bare-temporal.ts';
import { runFloor, startBenchStack, type BenchStack } from './bench-stack.ts';
import { createNumbersSuite } from './numbers-suite.ts';

/** What is run, at which widths. */
type Work = {
  readonly name: string;
  readonly model: 'slow' | 'fast';
  readonly cells: number;
  readonly slots: number;
  readonly taskConcurrency: number;
  readonly packing: 'auto' | 'off';
  /** Cells of one task workflow, and whether an attempt has its own: the same tree for bare Temporal. */
  readonly tree: { readonly perTask: number; readonly attempts: boolean };
};

const EACH = { perTask: 1, attempts: false };
const PACKED = { perTask: 25, attempts: false };

const WORKS: readonly Work[] = [
  { name: 'slow', model: 'slow', cells: 500, slots: 64, taskConcurrency: 128, packing: 'auto', tree: EACH },
  {
    name: 'slow-packed',
    model: 'slow',
    cells: 520,
    slots: 64,
    taskConcurrency: 128,
    packing: 'auto',
    tree: PACKED,
  },
  {
    name: 'fast',
    model: 'fast',
    cells: 2_000,
    slots: 64,
    taskConcurrency: 64,
    packing: 'auto',
    tree: PACKED,
  },
  {
    name: 'packing-off',
    model: 'fast',
    cells: 500,
    slots: 64,
    taskConcurrency: 64,
    packing: 'off',
    tree: { perTask: 1, attempts: true },
  },
  {
    name: 'ten-thousand',
    model: 'fast',
    cells: 10_000,
    slots: 64,
    taskConcurrency: 64,
    packing: 'auto',
    tree: PACKED,
  },
];

const { values } = parseArgs({
  options: { only: { type: 'string', multiple: true }, cells: { type: 'string' } },
});
const chosen = WORKS.filter(({ name }) =>
  (values.only ?? ['slow', 'slow-packed', 'fast', 'packing-off']).includes(name),
);

const isAgents = values.only?.includes('agent') === true;
const engine = isAgents && findEngineProblem() === null ? await startEngine() : null;
if (engine !== null) process.env['DOCKER_HOST'] = `unix://${engine.socketPath}`;
const bench = await startBenchStack();
const bare = await startBareTemporal(bench.stack.temporalAddress, bench.stack.namespace);
try {
  if (isAgents) console.log(await measureAgents(bench, bare, listAgentWorks(Number(values.cells ?? 60))));
  if (chosen.length > 0) await measureWorks();
} finally {
  await bare.close();
  await bench.close();
  await engine?.stop();
}

function listAgentWorks(cells: number) {
  const few = Math.ceil(cells / 4);
  return [
    { environment: 'host', cells },
    { environment: 'bubblewrap', cells: few },
    ...(engine === null ? [] : [{ environment: { kind: 'docker', image: IMAGE }, cells: few }]),
  ];
}

async function measureWorks(): Promise<void> {
  await measure({ ...WORKS[2]!, cells: 50, name: 'warm-up' });
  const table = new Table({
    head: [
      'work',
      'cells',
      'floor s',
      'wall s',
      'wall / floor',
      'bare Temporal s',
      'wall / bare',
      'cells/s',
      'CPU ms a cell: worker',
      'Temporal',
      'Postgres',
      'events a cell',
      'largest history',
      'MB: worker',
      'Temporal',
      'Postgres',
    ],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const work of chosen)
    table.push(await measure(values.cells === undefined ? work : { ...work, cells: Number(values.cells) }));
  console.log(table.toString());
}

async function measure(work: Work): Promise<(string | number)[]> {
  const floorSeconds = await runFloor(bench.endpointUrl, {
    model: work.model,
    count: work.cells,
    slots: work.slots,
  });
  const { cells, slots, taskConcurrency, model } = work;
  const { seconds: bareSeconds } = await bare.run({
    shape: { cells, width: taskConcurrency, slots, localRecord: true, ...work.tree },
    model,
    endpointUrl: bench.endpointUrl,
  });
  const loaded = await load(bench, work);
  const before = bench.measure();
  const started = performance.now();
  const { runId } = await startRun(bench.connection, { loaded, runId: null, approved: true });
  const client = await bench.connection.temporal();
  const result = (await client.workflow.getHandle(toRunWorkflowId(runId)).result()) as RunResult;
  const wallSeconds = (performance.now() - started) / 1000;
  const after = bench.measure();
  if (result.state !== 'completed' || result.recorded !== work.cells) throw new Error(JSON.stringify(result));
  const cpu = (['worker', 'temporal', 'postgres'] as const).map(
    (part) => ((after[part].cpuSeconds - before[part].cpuSeconds) * 1000) / work.cells,
  );
  const events = await countEvents(runId);
  return [
    work.name,
    work.cells,
    floorSeconds.toFixed(2),
    wallSeconds.toFixed(2),
    (wallSeconds / floorSeconds).toFixed(2),
    bareSeconds.toFixed(2),
    (wallSeconds / bareSeconds).toFixed(2),
    (work.cells / wallSeconds).toFixed(1),
    ...cpu.map((ms) => ms.toFixed(1)),
    (events.total / work.cells).toFixed(1),
    events.largest,
    ...(['worker', 'temporal', 'postgres'] as const).map((part) => Math.round(after[part].memoryMb)),
  ];
}

function load({ endpointUrl }: BenchStack, work: Work) {
  const value = {
    name: `bench-${work.name}`,
    providers: [
      { id: 'sim', kind: 'openai-compatible', baseUrl: endpointUrl, limits: { concurrency: work.slots } },
    ],
    models: [{ id: 'sim', provider: 'sim', model: work.model }],
    suite: createNumbersSuite(work.cells),
    execution: { taskConcurrency: work.taskConcurrency, packing: work.packing, seed: 1 },
  };
  return loadRun({
    source: { kind: 'document', value, baseDir: process.cwd() },
    catalog: createBuiltInCatalog(),
  });
}

/** Events of the run's workflows: all of them, and of the longest history. */
async function countEvents(runId: string): Promise<{ readonly total: number; readonly largest: number }> {
  const client = await bench.connection.temporal();
  let total = 0;
  let largest = 0;
  const root = toRunWorkflowId(runId);
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for await (const one of client.workflow.list({
    query: `RootWorkflowId = '${root}' OR WorkflowId = '${root}'`,
  })) {
    total += one.historyLength;
    largest = Math.max(largest, one.historyLength);
  }
  return { total, largest };
}
