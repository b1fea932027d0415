import { userInfo } from 'node:os';
import { findRun } from '../client/find-run.ts';
import { steerRun, type Steering } from '../client/steer-run.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { withRuns } from './open-assay.ts';
import { listOpenNext } from './waiting-run.ts';

/** `assay approve|pause|unpause|set RUN`: says it to the run under the name of the user of this machine. */
export async function steerByWord(
  word: string,
  steering: Steering,
  context: CommandContext,
): Promise<CommandResult> {
  return withRuns(context, async ({ connection }) => {
    const { runId } = await findRun(connection.db, word);
    const signed = { ...steering, input: { ...toSignature(), ...steering.input } } as Steering;
    const steered = await steerRun(connection, runId, signed);
    const { message } = steered;
    return toResult({
      document: steered,
      text: `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      next: steered.state === 'finalizing' ? [`assay show ${runId}`] : listOpenNext(steered),
    });
  });
}

/** The user of this machine, where it has a name. */
export function toSignature(): { readonly by?: string } {
  try {
    return { by: userInfo().username };
  } catch {
    // A user without a name, as in some containers.
    return {};
  }
}
