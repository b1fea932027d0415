import { findReuse } from '../client/find-reuse.ts';
import { startRun, type RunStart, type StartedRun } from '../client/start-run.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { finishRun } from './finish-run.ts';
import { Interrupts } from './interrupts.ts';
import { toRunUrl, toStackOptions, withAssay, type OpenAssay } from './open-assay.ts';

type Launch = {
  readonly reuse: { readonly word: string; readonly allowMismatch: boolean } | null;
  readonly detach: boolean;
  /** Nobody has confirmed its cost: it will await approval. */
  readonly waits: boolean;
};

/** Starts a run that has been checked, and follows it to its end unless it is detached. */
export async function launchRun(
  { detach, waits, reuse, ...start }: Omit<RunStart, 'reuse'> & Launch,
  context: CommandContext,
): Promise<CommandResult> {
  const stackOptions = toStackOptions(context);
  return withAssay(stackOptions, async (open) => {
    const interrupts = detach ? null : new Interrupts();
    try {
      const from = reuse === null ? {} : { reuse: await findReuse(open.connection, reuse) };
      const started = await startRun(open.connection, { ...start, ...from });
      context.note(describeStart(open, started));
      if (interrupts === null) return toDetached(open, { ...started, waits });
      return await finishRun(
        { open, runId: started.runId, generation: 1, interrupts, stackOptions, leaveWaiting: true },
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

function toDetached(
  { stack }: OpenAssay,
  { runId, workflowId, attached, waits }: StartedRun & Pick<Launch, 'waits'>,
): CommandResult {
  const text = waits ? 'It awaits approval: its cost has to be confirmed.' : 'It goes on by itself.';
  const approve = waits && !attached ? [`assay approve ${runId}`, `assay approve ${runId} --reject`] : [];
  return toResult({
    document: { runId, workflowId, attached, temporalUrl: toRunUrl(stack, runId) },
    text: attached ? '' : text,
    next: [...approve, `assay watch ${runId}`, `assay report ${runId}`, `assay cancel ${runId}`],
  });
}
