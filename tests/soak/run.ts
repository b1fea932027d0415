import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runCrashTrial, stopAsUser, type TrialResult } from '../crash/crash-trial.ts';
import { VICTIMS } from '../crash/kills.ts';
import { createWorkplace, type Workplace } from '../crash/workplace.ts';
import { listSections } from './page-section.ts';
import { formatSoakTable, type SoakTrial } from './soak-table.ts';

/**
 * `npm run soak`: kills every victim in runs of 200 cells at seeded random moments and writes docs/soak.md.
 * `--seeds 20`, `--victim worker` (repeatable), `--parallel 1` (runs at a time), `--no-write`.
 */
const RUNS_PER_STACK = 5;
const LATENCY_MS = [20, 300] as const;
const OUTPUT = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));

const { values } = parseArgs({
  allowNegative: true,
  options: {
    seeds: { type: 'string', default: '20' },
    victim: { type: 'string', multiple: true },
    parallel: { type: 'string', default: '1' },
    write: { type: 'boolean', default: true },
  },
});

const open = new Set<Workplace>();
const trials: SoakTrial[] = [];
const loads: number[] = [];

const victims = VICTIMS.filter((victim) => values.victim?.includes(victim) ?? true);
const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void endEarly());
const blocks = victims.flatMap((victim) => toBlocks(seeds).map((part) => ({ victim, part })));
try {
  await Promise.all(Array.from({ length: Number(values.parallel) }, soakBlocks));
} finally {
  // Blocks that run beside one that broke.
  await removeOpen();
}
trials.sort((a, b) => victims.indexOf(a.victim) - victims.indexOf(b.victim) || a.seed - b.seed);
const table = formatSoakTable(trials);
const failed = trials.filter(({ result }) => result.problems.length > 0);
console.log(`\n${table}`);
if (values.write) writeFileSync(OUTPUT, `${formatPage(table)}${keepSections()}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** A few runs share a stack, so that later ones meet what earlier kills left behind. */
function toBlocks(all: readonly number[]): readonly (readonly number[])[] {
  const starts = all.filter((_, index) => index % RUNS_PER_STACK === 0);
  return starts.map((_, index) => all.slice(index * RUNS_PER_STACK, (index + 1) * RUNS_PER_STACK));
}

async function soakBlocks(): Promise<void> {
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
    const workplace = await createWorkplace(LATENCY_MS);
    open.add(workplace);
    try {
      await soakBlock(workplace, block);
    } finally {
      await workplace.remove();
      open.delete(workplace);
    }
  }
}

async function soakBlock(workplace: Workplace, block: (typeof blocks)[number]): Promise<void> {
  const { victim, part } = block;
  for (const seed of part) {
    const result = await runCrashTrial(workplace, { victim, seed, packing: 'auto' });
    // What a stack leaves behind is told with its last run.
    const left = seed === part.at(-1) ? await stopAsUser(workplace) : [];
    keep({ victim, seed, result: { ...result, problems: [...result.problems, ...left] } });
  }
}

function keep(trial: SoakTrial): void {
  trials.push(trial);
  loads.push(loadavg()[0] ?? 0);
  console.log(`${trial.victim} ${trial.seed}: ${describe(trial.result)}`);
}

function describe({ problems, ...figures }: TrialResult): string {
  const state = problems.length === 0 ? 'ok' : `PROBLEMS (${problems.length})`;
  return [`${state} ${JSON.stringify(figures)}`, ...problems.slice(0, 20)].join('\n  ');
}

async function removeOpen(): Promise<void> {
  await Promise.all([...open].map((workplace) => workplace.remove()));
}

async function endEarly(): Promise<void> {
  await removeOpen();
  process.exit(130);
}

/** What the other soaks wrote. */
function keepSections(): string {
  const sections = listSections(readFileSync(OUTPUT, 'utf8'));
  return sections.map((section) => `\n${section}\n`).join('');
}

function formatPage(text: string): string {
  const cores = availableParallelism();
  const load = loads.reduce((sum, one) => sum + one, 0) / loads.length;
  return `# Soak: \`kill -9\` at random moments

Written by \`npm run soak\`. Each run has 200 direct cells (100 cases x 2 models) that call an HTTP endpoint of its own
process, which logs every request before it answers it (20 to 300 ms). The real command starts the run; one or two
\`kill -9\` hit the victim at moments that the seed chooses, from the first request to the last. A command is typed
only where no part of Assay is left that could revive the others.

${text}

Times are the longest of all runs. "Restart" is the start of the last process that was started again; "first new
request" is the first one of a call that had never been sent; "cut-off" calls are those in flight at the kill, which
are sent once more when their heartbeat is missed (10 s). Killing the command alone restarts nothing.

Measured on ${cores} cores with a mean load of ${load.toFixed(1)} (1.0 a core = busy), endpoint and commands included.
Seeds 1 to ${seeds.length} for each victim, ${values.parallel} at a time.
`;
}
