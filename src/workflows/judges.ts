import type { Cell } from '../domain/ids.ts';
import type { RequestBrief } from '../domain/workflow-brief.ts';
import { askJudges, nameTry } from './activities.ts';

export type Judging = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly answerDigest: string | null;
  /** Which grading of this answer it is, from 1. */
  readonly scoreVersion: number;
  /** The answer is that of the cell's origin. */
  readonly stored?: true;
};

/** What the judges of a request say of one answer, a blob for each engine; null = the run takes no more calls. */
export async function hearJudges(
  { judges = [] }: Pick<RequestBrief, 'judges'>,
  judging: Judging,
): Promise<readonly string[] | null> {
  const heard = await Promise.all(
    judges.map(({ engineId, queue }) =>
      askJudges({ ...judging, engineId }, { queue, summary: `judge · ${nameTry(judging)}` }),
    ),
  );
  const asked = heard.flatMap((one) => (one.kind === 'asked' ? [one.opinionsDigest] : []));
  return asked.length < judges.length ? null : asked;
}
