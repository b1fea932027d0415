import type { TrialResult } from '../crash/crash-trial.ts';
import type { Victim } from '../crash/kills.ts';

export type SoakTrial = { readonly victim: Victim; readonly seed: number; readonly result: TrialResult };

const HEADER = [
  'Victim',
  'Runs',
  'Cells lost',
  'Recorded calls made again',
  'Extra requests / calls in flight at kills',
  'Restart to first new request',
  'of it: worker until it polls',
  'Restart to last cut-off call again',
  'Last kill to end of run',
  'Commands typed',
  'Runs with a problem',
];

/** One row for each victim; times are the longest of its runs, in seconds. */
export function formatSoakTable(trials: readonly SoakTrial[]): string {
  const rows = [...Map.groupBy(trials, ({ victim }) => victim)].map(([victim, own]) => {
    const results = own.map(({ result }) => result);
    return [
      victim === 'all' ? 'all at once' : victim,
      String(own.length),
      `${add(results, 'cellsLost')} of ${add(results, 'planned')}`,
      String(add(results, 'madeAgain')),
      `${add(results, 'extraRequests')} / ${add(results, 'inFlight')}`,
      longest(results.map(({ firstNewMs }) => firstNewMs)),
      longest(results.map(({ workerStartMs }) => workerStartMs)),
      longest(results.map(({ cutOffMs }) => cutOffMs)),
      longest(results.map(({ completionMs }) => completionMs)),
      String(add(results, 'typed')),
      String(results.filter(({ problems }) => problems.length > 0).length),
    ];
  });
  return toMarkdown([HEADER, HEADER.map((_, column) => (column === 0 ? '---' : '---:')), ...rows]);
}

const toMarkdown = (rows: readonly (readonly string[])[]): string =>
  rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');

type Count = 'cellsLost' | 'planned' | 'madeAgain' | 'extraRequests' | 'inFlight' | 'typed';

const add = (results: readonly TrialResult[], field: Count): number =>
  results.reduce((sum, result) => sum + result[field], 0);

function longest(values: readonly (number | null)[]): string {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? '-' : `${(Math.max(...known) / 1_000).toFixed(1)} s`;
}
