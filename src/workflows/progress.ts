import { countTally, formatTally } from '../domain/tally.ts';
import type { Reason, TerminalState } from '../domain/outcome.ts';
import type { RunBrief } from '../domain/workflow-brief.ts';
import type { WindowTotals } from './run-window.ts';

/** The run's current details in the Temporal UI, as Markdown. Task workflows report in batches. */
export function formatProgress(progress: {
  readonly run: RunBrief;
  readonly plannedCells: number;
  readonly summary: string;
  readonly totals: WindowTotals;
  readonly openCount: number;
  readonly halt: { readonly state: TerminalState; readonly reason: Reason } | null;
}): string {
  const { run, plannedCells, summary, totals, openCount, halt } = progress;
  const recorded = countTally(totals.tally);
  const percent = plannedCells === 0 ? 100 : Math.floor((100 * recorded) / plannedCells);
  const lines = [
    `**${recorded} of ${plannedCells} cells (${percent} %)** · ${totals.passed} passed · ${formatTally(totals.tally)}`,
    `${summary} · generation ${run.generation} · ${openCount} task workflows open`,
  ];
  if (halt !== null) lines.push(`Stopping: **${halt.state}** – ${halt.reason.message}`);
  lines.push(...totals.faults.map((fault) => `- ${fault}`));
  return lines.join('\n\n');
}
