import { findRun } from '../client/find-run.ts';
import type { CommandContext } from './command.ts';
import type { CommandResult } from './command-result.ts';
import { finishRun } from './finish-run.ts';
import { Interrupts } from './interrupts.ts';
import { toStackOptions, withRuns } from './open-assay.ts';

/** `assay watch RUN` */
export async function watchToEnd(word: string, context: CommandContext): Promise<CommandResult> {
  const stackOptions = toStackOptions(context);
  return withRuns(context, async (open) => {
    const { runId } = await findRun(open.connection.db, word);
    const interrupts = new Interrupts();
    try {
      return await finishRun({ open, runId, generation: 1, interrupts, stackOptions }, context);
    } finally {
      interrupts.stop();
    }
  });
}
