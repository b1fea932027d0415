import { formatCount } from '../domain/format-count.ts';
import { describeMissingKeys } from '../domain/key-names.ts';
import { countTally, formatTally } from '../domain/tally.ts';
import type { Reason, TerminalState } from '../domain/outcome.ts';
import type { RunBrief, RunResult, Tally } from '../domain/workflow-brief.ts';
import { describeNeed, type ApprovalNeed } from '../domain/approval.ts';
import { describePause, type Pause } from '../domain/run-control.ts';
import type { WindowTotals } from './run-window.ts';

/** Current details of a run that has no plan yet. */
export const PREPARING = '**Preparing**: the run file is checked, suites are loaded, cells are planned';

/** Current details of a run that waits for somebody's word. */
export const formatAwaiting = (runId: string, need: ApprovalNeed): string =>
  [
    `**Awaiting approval**: ${describeNeed(need)}. Nothing has been sent.`,
    `Type \`assay approve ${runId}\` or \`assay approve ${runId} --reject\`, or send the update \`approve\` or \`reject\`.`,
  ].join('\n\n');

/** Current details of a run in the Temporal UI, as Markdown. Task workflows report in batches. */
export function formatProgress(progress: {
  readonly run: RunBrief;
  readonly plannedCells: number;
  readonly summary: string;
  readonly totals: WindowTotals;
  readonly openCount: number;
  readonly pause: Pause | null;
  readonly halt: { readonly state: TerminalState; readonly reason: Reason } | null;
  /** Variables that calls wait for. */
  readonly missingKeys: readonly string[];
}): string {
  const { run, plannedCells, summary, totals, openCount, pause, halt, missingKeys } = progress;
  const recorded = countTally(totals.tally);
  const percent = plannedCells === 0 ? 100 : Math.floor((100 * recorded) / plannedCells);
  const generation = run.generation > 1 ? ` · generation ${run.generation}` : '';
  const lines = [
    `**${pause === null ? 'Running' : 'Paused'}: ${recorded} of ${plannedCells} cells (${percent} %)** · ${formatCounts(totals)}`,
    `${summary}${generation} · ${formatCount(openCount, 'task workflow')} open`,
  ];
  if (missingKeys.length > 0) lines.push(describeMissingKeys(missingKeys, run.runId));
  if (pause !== null) {
    const { runId } = run;
    lines.push(
      `${describePause(pause)}. What runs goes on; type \`assay unpause ${runId}\` or send the update \`unpause\`.`,
    );
  }
  if (halt !== null) lines.push(`Stopping: **${halt.state}** – ${halt.reason.message}`);
  lines.push(...totals.faults.map((fault) => `- ${fault}`));
  return lines.join('\n\n');
}

/** Current details of a run that has ended: what the store holds, not what was counted on the way. */
export function formatEnd({ runId, state, reason, planned, recorded, outcomes, missing }: RunResult): string {
  const name = state.replace('_', ' ');
  const lines = [
    `**${name.charAt(0).toUpperCase()}${name.slice(1)}: ${recorded} of ${planned} cells** · ${formatTally(outcomes)}`,
    `Leaderboard: \`assay report ${runId}\``,
  ];
  if (reason !== null) lines.push(reason.message);
  if (missing.length > 0) lines.push(`Cells without a row: ${missing.join(', ')}`);
  return lines.join('\n\n');
}

/** Current details of a task workflow. Under strategy `pass` the attempts are the most that it may take. */
export const formatTaskProgress = (progress: {
  readonly attempts: number;
  readonly tally: Tally;
  readonly passed: number;
}): string =>
  `**${countTally(progress.tally)} of ${formatCount(progress.attempts, 'attempt')}** · ${formatCounts(progress)}`;

const formatCounts = ({ tally, passed }: { readonly tally: Tally; readonly passed: number }): string =>
  `${formatTally(tally)} · ${passed} passed`;
