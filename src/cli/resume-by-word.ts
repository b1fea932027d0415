import { findResumeNeed, RESUMED_OUTCOMES, resumeRun } from '../client/control-run.ts';
import { findRun } from '../client/find-run.ts';
import type { OutcomeKind } from '../domain/outcome.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { confirmSpending } from './confirm-spending.ts';
import { finishRun } from './finish-run.ts';
import { countOf } from './format.ts';
import { Interrupts } from './interrupts.ts';
import { toRunUrl, toStackOptions, withRuns } from './open-assay.ts';
import { listOpenNext } from './waiting-run.ts';

type Resume = {
  readonly word: string;
  readonly maxUsd: number | null;
  readonly detach: boolean;
  readonly yes: boolean;
  /** Only cells whose latest outcome is one of these; null = all that have no result. */
  readonly outcomes: readonly OutcomeKind[] | null;
};

/** `assay resume RUN`, and `assay retry RUN` with the outcomes that it names. */
export async function resumeByWord(resume: Resume, context: CommandContext): Promise<CommandResult> {
  const stackOptions = toStackOptions(context);
  return withRuns(context, async (open) => {
    const run = await findRun(open.connection.db, resume.word);
    const budgets = resume.maxUsd === null ? {} : { maxRunUsd: resume.maxUsd };
    const outcomes = resume.outcomes ?? RESUMED_OUTCOMES;
    const need = await findResumeNeed(open.connection, run, outcomes);
    const approved = await confirmSpending(need, { yes: resume.yes, ask: !context.json });
    const interrupts = resume.detach ? null : new Interrupts();
    try {
      const wanted = { run, budgets, approved, outcomes };
      const { runId, cells, generation } = await resumeRun(open.connection, wanted);
      context.note(`Run ${runId} goes on: ${countOf(cells, 'cell')} to run or to grade.`);
      if (interrupts !== null)
        return await finishRun(
          { open, runId, generation, interrupts, stackOptions, leaveWaiting: true },
          context,
        );
      return toResult({
        document: { runId, cells, generation, temporalUrl: toRunUrl(open.stack, runId) },
        text: need !== null && !approved ? 'It awaits approval: its cost has to be confirmed.' : '',
        next: listOpenNext({ runId, state: need !== null && !approved ? 'awaiting_approval' : 'running' }),
      });
    } finally {
      interrupts?.stop();
    }
  });
}
