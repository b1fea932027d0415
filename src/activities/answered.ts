import { outputCap } from '../domain/estimate.ts';
import type { Cell } from '../domain/ids.ts';
import { loadOrigin, type Origin } from '../store/origins.ts';
import type { Dependencies } from './dependencies.ts';

type Asked = {
  readonly cell: Cell;
  readonly tryNumber: number;
  readonly answerDigest: string | null;
  readonly stored?: true;
};

/** Where the answer that is graded was made: in this try, or in the cell that this one has it from. */
export async function findAnswered(
  { db, runs }: Pick<Dependencies, 'db' | 'runs'>,
  { cell, tryNumber, answerDigest, stored }: Asked,
): Promise<Origin> {
  if (stored !== true) return { key: cell, tryNumber, answerDigest, limit: null };
  const origin = await loadOrigin(db, cell);
  if (origin.limit?.kind !== 'output' || origin.limit.limit !== null) return origin;
  const { model } = await runs.find(cell);
  return { ...origin, limit: { ...origin.limit, limit: outputCap(model) } };
}
