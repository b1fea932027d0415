import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startBenchStack, type Usage } from '../../bench/bench-stack.ts';
import { readResidentMb } from '../../bench/cpu.ts';
import { startRun } from '../../src/client/start-run.ts';
import { readStackFile } from '../../src/local/stack-file.ts';
import { findEngineProblem, startEngine } from '../environments/docker-subject.ts';
import { createTestRunId } from '../support/assay.ts';
import { load } from '../support/load.ts';
import { runLongAgent, type Place } from '../workflows/long-agent.ts';
import { formatLargeFile, formatLongAgent, type Mark } from './agent-section.ts';
import { replaceSection } from './page-section.ts';
import { runArtifact, type ArtifactRun } from './artifact-run.ts';

/**
 * `npm run soak:agent`: one attempt of ten thousand steps, then a file of 200 MB that an agent leaves in each
 * environment, with the real worker, and the section of docs/soak.md about them. `--steps 10000`,
 * `--megabytes 200`, 0 = not that part; `--no-write`. Exit code 1 when something was lost.
 */
const OUTPUT = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));

const { values } = parseArgs({
  allowNegative: true,
  options: {
    steps: { type: 'string', default: '10000' },
    megabytes: { type: 'string', default: '200' },
    write: { type: 'boolean', default: true },
  },
});
const steps = Number(values.steps);
const megabytes = Number(values.megabytes);
const loads: number[] = [];

const problem = megabytes === 0 ? 'not needed' : findEngineProblem();
const engine = problem === null ? await startEngine() : null;
if (engine !== null) process.env['DOCKER_HOST'] = `unix://${engine.socketPath}`;
const bench = await startBenchStack();
try {
  const { connection } = bench;
  const place: Place = {
    db: connection.db,
    client: await connection.temporal(),
    start: async (document, { runId = createTestRunId() } = {}) =>
      (await startRun(connection, { loaded: await load(document), runId, approved: false })).runId,
  };
  const whole = [steps === 0 || (await soakSteps(place)), megabytes === 0 || (await soakFiles(place))];
  process.exitCode = whole.every(Boolean) ? 0 : 1;
} finally {
  await bench.close();
  await engine?.stop();
}

/** True = nothing was lost. */
async function soakSteps(place: Place): Promise<boolean> {
  const marks: Mark[] = [];
  const long = await runLongAgent(place, steps, (runId) => watch(place, { runId, marks }));
  console.log(JSON.stringify({ ...long, histories: long.histories.map((one) => one.events) }));
  report('long agent', formatLongAgent(long, marks, toMachine()));
  return long.outcome === 'scored' && long.toolCalls === steps && long.sessions === 1;
}

async function soakFiles(place: Place): Promise<boolean> {
  const runs: ArtifactRun[] = [];
  for (const kind of ['host', 'bubblewrap', ...(engine === null ? [] : ['docker'])]) {
    runs.push(await runArtifact(place, { kind, megabytes, measure: readWorkerMb }));
    loads.push(loadavg()[0] ?? 0);
    console.log(JSON.stringify(runs.at(-1)));
  }
  report('large file', formatLargeFile(runs, toMachine()));
  return runs.every(({ kept, score }) => kept && score === 1);
}

function toMachine() {
  const load = loads.reduce((sum, one) => sum + one, 0) / Math.max(1, loads.length);
  loads.length = 0;
  return { load, cores: availableParallelism() };
}

function report(name: Parameters<typeof replaceSection>[1], section: string): void {
  console.log(section);
  if (values.write) writeFileSync(OUTPUT, replaceSection(readFileSync(OUTPUT, 'utf8'), name, section));
}

/** Of the worker's process alone: one that it is about to start counts as large as itself for a moment. */
function readWorkerMb(): number {
  const pid = readStackFile(bench.dataDir)?.worker?.process?.pid;
  return pid === undefined ? 0 : readResidentMb(pid);
}

/** Takes the figures of all parts each time that a tenth of the steps is done. */
async function watch(
  { db }: Place,
  { runId, marks }: { readonly runId: string; readonly marks: Mark[] },
): Promise<void> {
  const every = Math.max(1, Math.floor(steps / 10));
  let before: { readonly atMs: number; readonly step: number; readonly usage: Usage } | null = null;
  for (;;) {
    const { rows } = await db.query<{ step: number; state: string | null }>(
      `select coalesce((select max(step) from model_calls where run_id = $1), 0) as step,
         (select state from runs where run_id = $1) as state`,
      [runId],
    );
    const step = rows[0]?.step ?? 0;
    const state = rows[0]?.state ?? 'preparing';
    if (before === null ? step > 0 : step >= before.step + every || step > steps) {
      const now = { atMs: performance.now(), step, usage: bench.measure() };
      if (before !== null) marks.push(toMark(before, now));
      before = now;
      loads.push(loadavg()[0] ?? 0);
      console.log(JSON.stringify(marks.at(-1) ?? step));
    }
    if (step > steps || !['preparing', 'running', 'finalizing'].includes(state)) return;
    await sleep(500);
  }
}

type Look = { readonly atMs: number; readonly step: number; readonly usage: Usage };

function toMark(before: Look, now: Look): Mark {
  const count = Math.max(1, now.step - before.step);
  const cpu = (part: keyof Usage): number =>
    ((now.usage[part].cpuSeconds - before.usage[part].cpuSeconds) * 1_000) / count;
  return {
    step: now.step,
    stepMs: (now.atMs - before.atMs) / count,
    cpuMs: { worker: cpu('worker'), temporal: cpu('temporal'), postgres: cpu('postgres') },
    workerMb: now.usage.worker.memoryMb,
    temporalMb: now.usage.temporal.memoryMb,
  };
}
