import type { LargeTrialResult } from '../crash/large-trial.ts';
import type { MemoryMark } from '../crash/memory-watch.ts';

/** SPEC 15: what a run of 20,000 cells holds. */
const LIMITS = { events: 10_000, firstNewMs: 5_000, cutOffMs: 15_000, workerMb: 1_024, temporalMb: 1_536 };

type Line = {
  readonly what: string;
  readonly measured: string;
  readonly limit: string;
  readonly holds: boolean;
};

/** What was to hold, what was measured, and whether it held. */
export function judgeLarge(result: LargeTrialResult): readonly Line[] {
  const { histories, memory, planned, cellsLost, madeAgain, extraRequests, inFlight, typed } = result;
  const workerMb = Math.max(...memory.map((mark) => mark.workerMb));
  const temporalMb = Math.max(...memory.map((mark) => mark.temporalMb));
  return [
    count('Planned cells without exactly one result', cellsLost, 0),
    count('Recorded calls made again', madeAgain, 0),
    count('Requests beyond the first of a call', extraRequests, inFlight),
    count('Other problems', result.problems.length, 0),
    count('Commands typed after the kill', typed, 1),
    count('Events of the longest history', histories.mostEvents, LIMITS.events),
    seconds('Worker started to first request not yet sent', result.firstNewMs, LIMITS.firstNewMs),
    seconds('Worker started to last cut-off call again', result.cutOffMs, LIMITS.cutOffMs),
    count('Worker MB, most', Math.round(workerMb), LIMITS.workerMb),
    count('Temporal MB, most', Math.round(temporalMb), LIMITS.temporalMb),
    {
      what: 'Planned and recorded',
      measured: `${planned} and ${planned - cellsLost}`,
      limit: 'equal',
      holds: cellsLost === 0,
    },
  ];
}

const count = (what: string, measured: number, limit: number): Line => ({
  what,
  measured: String(measured),
  limit: `at most ${limit}`,
  holds: measured <= limit,
});

/** Null = there was nothing to time: no call was in flight. */
const seconds = (what: string, measuredMs: number | null, limitMs: number): Line => ({
  what,
  measured: measuredMs === null ? '-' : `${(measuredMs / 1_000).toFixed(1)} s`,
  limit: `at most ${limitMs / 1_000} s`,
  holds: measuredMs === null || measuredMs <= limitMs,
});

const MOST_MARKS = 24;

export function formatLarge(result: LargeTrialResult, machine: { cores: number; load: number }): string {
  const { histories, planned, seconds: wall, completionMs, inFlight, workerStartMs } = result;
  const lines = judgeLarge(result).map(
    ({ what, measured, limit, holds }) =>
      `| ${what} | ${measured} | ${limit} | ${holds ? 'yes' : '**no**'} |`,
  );
  return `# A large run, everything killed in its middle

Written by \`npm run soak:large\`: ${planned} direct cells, 64 calls at once, answers after 5 to 20 ms. When half of the
requests are sent, \`kill -9\` hits the command, the worker, Temporal and Postgres together; \`assay watch\` is typed.

| | Measured | Limit | Holds |
| --- | ---: | ---: | --- |
${lines.join('\n')}

From the start of the command to the report ${wall.toFixed(0)} s, from the kill to the end of the run ${(completionMs / 1_000).toFixed(0)} s; ${inFlight} calls were in
flight at the kill; the new worker polled after ${workerStartMs === null ? '-' : `${(workerStartMs / 1_000).toFixed(1)} s`}. ${histories.executions} executions of workflows, of them ${histories.runExecutions} of the run
itself (it continues as new); the largest history has ${(histories.mostBytes / 2 ** 20).toFixed(2)} MiB.

${formatMemory(result.memory)}

Measured on ${machine.cores} cores with a mean load of ${machine.load.toFixed(1)} (1.0 a core = busy).`;
}

/** A part that was dead at a look shows a dash. */
function formatMemory(marks: readonly MemoryMark[]): string {
  const step = Math.max(1, Math.ceil(marks.length / MOST_MARKS));
  const shown = marks.filter((_, index) => index % step === 0 || index === marks.length - 1);
  const toMb = (mb: number): string => (mb === 0 ? '-' : String(Math.round(mb)));
  return [
    '| Seconds | Requests | Worker MB | Temporal MB |',
    `|${' ---: |'.repeat(4)}`,
    ...shown.map(
      (mark) =>
        `| ${mark.seconds.toFixed(0)} | ${mark.requests} | ${toMb(mark.workerMb)} | ${toMb(mark.temporalMb)} |`,
    ),
  ].join('\n');
}
