import type { LongAgent } from '../workflows/long-agent.ts';
import type { ArtifactRun } from './artifact-run.ts';

/** Figures of the steps since the mark before. */
export type Mark = {
  readonly step: number;
  readonly stepMs: number;
  readonly cpuMs: { readonly worker: number; readonly temporal: number; readonly postgres: number };
  readonly workerMb: number;
  readonly temporalMb: number;
};

type Machine = { readonly load: number; readonly cores: number };

const formatMachine = ({ load, cores }: Machine): string =>
  `Measured on ${cores} cores with a mean load of ${load.toFixed(1)} (1.0 a core = busy).`;

export const formatLongAgent = (long: LongAgent, marks: readonly Mark[], machine: Machine): string =>
  [
    '# A long agent',
    'Written by `npm run soak:agent`: the real worker, Temporal server and Postgres of a local stack.',
    formatLong(long),
    formatMarks(marks),
    formatMachine(machine),
  ].join('\n\n');

export const formatLargeFile = (runs: readonly ArtifactRun[], machine: Machine): string =>
  [
    '# A large file of an agent',
    'Written by `npm run soak:agent`. The file is kept as an artifact and graded in a fresh session, which it is copied to.',
    formatArtifacts(runs),
    formatMachine(machine),
  ].join('\n\n');

function formatLong({ toolCalls, histories, seconds, outcome, sessions }: LongAgent): string {
  const events = Math.max(...histories.map((one) => one.events));
  const bytes = Math.max(...histories.map((one) => one.bytes));
  return `One attempt of ${toolCalls} steps, each a model call (mock, no latency) and a tool call (\`write_file\` on environment \`host\`), took ${Math.round(seconds)} s and ended \`${outcome}\`, with ${sessions} session; its workflow continued as new ${histories.length - 1} times, the longest history has ${events} events and ${(bytes / 2 ** 20).toFixed(1)} MiB.`;
}

function formatMarks(marks: readonly Mark[]): string {
  const head =
    '| Up to step | ms a step | CPU ms a step: worker | Temporal | Postgres | Worker MB | Temporal MB |';
  const rows = marks.map(
    ({ step, stepMs, cpuMs, workerMb, temporalMb }) =>
      `| ${step} | ${stepMs.toFixed(0)} | ${cpuMs.worker.toFixed(1)} | ${cpuMs.temporal.toFixed(1)} | ${cpuMs.postgres.toFixed(1)} | ${Math.round(workerMb)} | ${Math.round(temporalMb)} |`,
  );
  return [head, `|${' ---: |'.repeat(7)}`, ...rows].join('\n');
}

function formatArtifacts(runs: readonly ArtifactRun[]): string {
  const head = '| Environment | MB | Seconds | Worker MB before | Worker MB at most |';
  const rows = runs.map(
    ({ kind, megabytes, seconds, beforeMb, highestMb }) =>
      `| \`${kind}\` | ${megabytes} | ${seconds.toFixed(1)} | ${Math.round(beforeMb)} | ${Math.round(highestMb)} |`,
  );
  return [head, '| --- |' + ' ---: |'.repeat(4), ...rows].join('\n');
}
