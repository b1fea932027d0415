import { listRuns, type ListedRun } from '../client/list-runs.ts';
import { countTally, formatTally } from '../domain/tally.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { formatDuration, formatMoment, formatState } from './format.ts';
import { hasStack, withRuns } from './open-assay.ts';
import { formatTextTable } from './text-table.ts';
import { describeWait, listOpenNext } from './waiting-run.ts';

/** `assay list` */
export async function showRuns(
  options: { readonly limit: number; readonly openOnly: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  if (!hasStack(context.settings)) return toEmpty(options);
  return withRuns(context, async ({ connection }) => {
    const runs = await listRuns(connection, options);
    if (runs.length === 0) return toEmpty(options);
    const [newest] = runs;
    return toResult({
      document: { runs },
      text: formatTextTable({
        heads: ['run', 'state', 'started', 'took', 'cells', 'outcomes'],
        rows: runs.map(toRow),
        right: [3, 4],
      }),
      next: [
        ...toWaitingNext(runs),
        `assay report ${newest?.runId ?? 'last'}`,
        `assay show ${newest?.runId ?? 'last'}`,
      ],
    });
  });
}

/** Runs that wait for somebody come first. */
const toWaitingNext = (runs: readonly ListedRun[]): readonly string[] =>
  runs.filter((run) => describeWait(run) !== null).flatMap((run) => listOpenNext(run).slice(0, 1));

function toEmpty({ openOnly }: { readonly openOnly: boolean }): CommandResult {
  const text = openOnly ? 'No run is open.' : 'There are no runs yet.';
  return toResult({ document: { runs: [] }, text, next: ['assay init', 'assay run FILE'] });
}

function toRow(run: ListedRun): readonly string[] {
  const took =
    run.startedAt === null || run.finishedAt === null
      ? ''
      : formatDuration(Date.parse(run.finishedAt) - Date.parse(run.startedAt));
  const state =
    run.generation > 1 ? `${formatState(run.state)} (generation ${run.generation})` : formatState(run.state);
  const cells = countTally(run.outcomes);
  return [
    run.runId,
    state,
    formatMoment(run.startedAt ?? run.createdAt),
    took,
    String(cells),
    cells === 0 ? '' : formatTally(run.outcomes),
  ];
}
