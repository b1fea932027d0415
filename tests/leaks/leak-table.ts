import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { replaceSection } from '../soak/page-section.ts';
import { CELLS_PER_TRIAL } from './leak-run.ts';
import type { LeakResult } from './leak-trial.ts';

const PAGE = fileURLToPath(new URL('../../docs/soak.md', import.meta.url));
/** Writes the section of docs/soak.md about leaks, in the place of the one that was there. */
export const keepLeakTable = (results: readonly LeakResult[]): void =>
  writeFileSync(PAGE, replaceSection(readFileSync(PAGE, 'utf8'), 'nothing leaks', formatLeaks(results)));

function formatLeaks(results: readonly LeakResult[]): string {
  const rows = [
    ...countEach(
      'Hit',
      results.flatMap(({ hits }) => hits),
    ),
    ...countEach('Outcome', results.flatMap(toOutcomes)),
    ['Cells without exactly one outcome', String(sum(results, ({ problems }) => problems.length))],
    ...countEach('There when the run ended', results.flatMap(toKinds)),
    ['There once the reaper had run', String(sum(results, ({ left }) => left.length))],
    ['Longest run', toSeconds(Math.max(...results.map(({ runMs }) => runMs)))],
    [
      'Longest from the start of the last worker until nothing was there',
      toSeconds(Math.max(...results.map(({ reapMs }) => reapMs))),
    ],
  ];
  return `# Nothing leaks

Written by \`npm run soak:leaks\`: ${results.length * CELLS_PER_TRIAL} attempts in ${results.length} runs of ${CELLS_PER_TRIAL} agents (3 on \`host\`, 4 in
\`bubblewrap\`, 3 in \`docker\`; 3 of them graded in a fresh session) that leave servers, daemons that ignore SIGTERM and
processes without a mark behind. In each run \`kill -9\` hits the worker, a session and the docker engine once, at moments
that the seed chooses. Then a worker is started and its reaper awaited. Looked for are processes (by argument, mark,
folder and mount), containers, networks and bridges, volumes, folders, control groups, and rows that say that something
goes on.

| | |
| --- | ---: |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}

A \`refused\` cell had a tool running when its worker died, which may not be run again unasked; a network is there for
the next session until the reaper looks. Measured on ${availableParallelism()} cores, at the end with a load of ${(loadavg()[0] ?? 0).toFixed(1)}.`;
}

const toOutcomes = ({ outcomes }: LeakResult): readonly string[] =>
  Object.entries(outcomes).flatMap(([outcome, count]) => Array.from({ length: count }, () => outcome));

const toKinds = ({ forReaper }: LeakResult): readonly string[] =>
  forReaper.map((line) => line.slice(0, line.indexOf(':')));

const countEach = (what: string, values: readonly string[]): readonly (readonly string[])[] =>
  [...Map.groupBy(values, (value) => value)]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([value, all]) => [`${what}: ${value}`, String(all.length)]);

const sum = (results: readonly LeakResult[], count: (result: LeakResult) => number): number =>
  results.reduce((total, result) => total + count(result), 0);

const toSeconds = (ms: number): string => `${(ms / 1_000).toFixed(0)} s`;
