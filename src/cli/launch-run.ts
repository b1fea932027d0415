import { startRun, type RunStart, type StartedRun } from '../client/start-run.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { finishRun } from './finish-run.ts';
import { Interrupts } from './interrupts.ts';
import { toRunUrl, toStackOptions, withAssay, type OpenAssay } from './open-assay.ts';

/** Starts a run that has been checked, and follows it to its end unless it is detached. */
export async function launchRun(
  { detach, ...start }: RunStart & { readonly detach: boolean },
  context: CommandContext,
): Promise<CommandResult> {
  const stackOptions = toStackOptions(context);
  return withAssay(stackOptions, async (open) => {
    const interrupts = detach ? null : new Interrupts();
    try {
      const started = await startRun(open.connection, start);
      context.note(describeStart(open, started));
      if (interrupts === null) return toDetached(open, started);
      return await finishRun(
        { open, runId: started.runId, generation: 1, interrupts, stackOptions },
        context,
      );
    } finally {
      interrupts?.stop();
    }
  });
}

function describeStart({ stack }: OpenAssay, { runId, attached }: StartedRun): string {
  const url = toRunUrl(stack, runId);
  const first = attached ? `Run ${runId} exists: attached to it, nothing was started.` : `Run ${runId}`;
  return url === null ? first : `${first}\nTemporal UI: ${url}`;
}

function toDetached({ stack }: OpenAssay, { runId, workflowId, attached }: StartedRun): CommandResult {
  return toResult({
    document: { runId, workflowId, attached, temporalUrl: toRunUrl(stack, runId) },
    text: attached ? '' : 'It goes on by itself.',
    next: [`assay watch ${runId}`, `assay report ${runId}`, `assay cancel ${runId}`],
  });
}
