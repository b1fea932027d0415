import { findRun } from '../client/find-run.ts';
import { resolveToolCall } from '../client/resolve-tool-call.ts';
import { RESOLUTION_CHOICES, type ResolutionChoice } from '../domain/tool-ledger.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { withRuns } from './open-assay.ts';
import { toSignature } from './steer-by-word.ts';
import { UsageError } from './usage-error.ts';

const SENTENCES: { readonly [K in ResolutionChoice]: string } = {
  done: 'its agent goes on as after a call that took effect',
  rerun: 'it runs again',
  skip: 'its agent is told that nobody knows',
};

export type ResolveWords = { readonly cell: string; readonly choice: string; readonly output?: string };

/** `assay resolve RUN CELL done|rerun|skip`: what became of a tool call whose worker was lost. */
export async function resolveByWord(
  word: string,
  { cell, choice, output }: ResolveWords,
  context: CommandContext,
): Promise<CommandResult> {
  const known = RESOLUTION_CHOICES.find((one) => one === choice);
  if (known === undefined)
    throw new UsageError(`expected one of ${RESOLUTION_CHOICES.join(', ')} after the cell, got "${choice}"`);
  if (output !== undefined && known !== 'done')
    throw new UsageError(`--output goes with "done" alone: it is what the call gave`);
  return withRuns(context, async ({ connection }) => {
    const { runId } = await findRun(connection.db, word);
    const said = { cell, choice: known, ...toSignature(), ...(output === undefined ? {} : { output }) };
    const resolved = await resolveToolCall(connection, runId, said);
    return toResult({
      document: { runId, ...resolved },
      text: `${resolved.cell}, ${resolved.tool} of step ${resolved.step}: ${SENTENCES[known]}.`,
      next: [`assay watch ${runId}`],
    });
  });
}
