import type { CommandContext } from './command.ts';
import type { CommandResult } from './command-result.ts';
import { concludeRun } from './conclude-run.ts';
import { followRun, type Following } from './follow-run.ts';

/** Follows a run to its end, then shows its leaderboard and gives its exit code. */
export async function finishRun(following: Following, context: CommandContext): Promise<CommandResult> {
  await followRun(following, context);
  return concludeRun(following.open, following.runId, context);
}
