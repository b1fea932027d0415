import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findRun } from '../client/find-run.ts';
import { scoreRun, type GivenScorers } from '../client/score-run.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { finishRun } from './finish-run.ts';
import { countOf } from './format.ts';
import { Interrupts } from './interrupts.ts';
import { toRunUrl, toStackOptions, withRuns } from './open-assay.ts';
import { UsageError } from './usage-error.ts';
import { listOpenNext } from './waiting-run.ts';

type Score = {
  readonly word: string;
  /** Scorers as options. */
  readonly texts: readonly string[];
  /** A file that names them instead. */
  readonly file: string | null;
  readonly detach: boolean;
};

/** `assay score RUN` */
export async function scoreByWord(score: Score, context: CommandContext): Promise<CommandResult> {
  const read = toGiven(score);
  const stackOptions = toStackOptions(context);
  return withRuns(context, async (open) => {
    const run = await findRun(open.connection.db, score.word);
    const interrupts = score.detach ? null : new Interrupts();
    try {
      const { runId, cells, generation } = await scoreRun(open.connection, { run, read });
      context.note(`Run ${runId}: ${countOf(cells, 'answer')} to grade again; nothing is run.`);
      if (interrupts !== null)
        return await finishRun({ open, runId, generation, interrupts, stackOptions }, context);
      return toResult({
        document: { runId, cells, generation, temporalUrl: toRunUrl(open.stack, runId) },
        text: '',
        next: listOpenNext({ runId, state: 'running' }),
      });
    } finally {
      interrupts?.stop();
    }
  });
}

function toGiven({ texts, file }: Score): GivenScorers | null {
  if (file !== null && texts.length > 0)
    throw new UsageError('--scorer and --scorers contradict each other: give one of them.');
  if (file === null) return texts.length === 0 ? null : { texts, baseDir: process.cwd() };
  try {
    return { file, text: readFileSync(file, 'utf8'), baseDir: dirname(resolve(file)) };
  } catch (error) {
    throw new UsageError(`--scorers ${file}: it cannot be read (${(error as Error).message}).`);
  }
}
