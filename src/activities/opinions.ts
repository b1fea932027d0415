import { listJudges, type JudgeOpinion } from '../domain/judge.ts';
import type { ModelSpec } from '../domain/run.ts';
import type { RecordInput } from '../domain/step.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { Dependencies } from './dependencies.ts';

/** What all judges said of one answer. */
export async function loadOpinions(
  { blobs }: Dependencies,
  { opinionsDigests = [] }: RecordInput,
): Promise<readonly JudgeOpinion[]> {
  const loaded = await Promise.all(
    opinionsDigests.map((digest) => blobs.loadJson(digest) as Promise<JudgeOpinion[]>),
  );
  return loaded.flat();
}

/** What was said to one scorer, in the order of its judges: whichever engine was quicker. */
export function pickOpinions(
  { name, options }: ScorerSpec,
  judges: readonly ModelSpec[] | undefined,
  opinions: readonly JudgeOpinion[],
): readonly JudgeOpinion[] {
  const own = opinions.filter(({ scorer }) => scorer === name);
  const order = listJudges(options, judges ?? []);
  return own.toSorted((a, b) => order.indexOf(a.judge) - order.indexOf(b.judge));
}
