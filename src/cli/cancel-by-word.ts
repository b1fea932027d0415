import { cancelRun } from '../client/control-run.ts';
import { findRun } from '../client/find-run.ts';
import { loadRun } from '../store/runs.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { followRun } from './follow-run.ts';
import { formatState } from './format.ts';
import { toStackOptions, withRuns } from './open-assay.ts';

/** `assay cancel RUN` */
export async function cancelByWord(
  { word, detach }: { readonly word: string; readonly detach: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  const stackOptions = toStackOptions(context);
  return withRuns(context, async (open) => {
    const run = await findRun(open.connection.db, word);
    const { runId } = run;
    const cancelling = await cancelRun(open.connection, runId);
    if (cancelling.kind === 'ended') {
      return toResult({
        document: { runId, state: cancelling.state, cancelled: false },
        text: `Run ${runId} had ended before: ${formatState(cancelling.state)}.`,
        next: [`assay report ${runId}`],
      });
    }
    if (detach) {
      const document = { runId, state: run.state, cancelled: null };
      return toResult({ document, text: `Asked ${runId} to stop.`, next: [`assay watch ${runId}`] });
    }
    context.note(`Stopping ${runId} and waiting for its cleanup. Ctrl-C leaves; it goes on.`);
    await followRun({ open, runId, generation: 1, interrupts: null, stackOptions }, context);
    const state = (await loadRun(open.connection.db, runId))?.state ?? run.state;
    return toResult({
      document: { runId, state, cancelled: state === 'cancelled' },
      text: `Run ${runId}: ${formatState(state)}.`,
      next:
        state === 'completed'
          ? [`assay report ${runId}`]
          : [`assay report ${runId}`, `assay resume ${runId}`],
    });
  });
}
