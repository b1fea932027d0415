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
  { db }: Pick<Dependencies, 'db'>,
  { cell, tryNumber, answerDigest, stored }: Asked,
): Promise<Origin> {
  return stored === true ? await loadOrigin(db, cell) : { key: cell, tryNumber, answerDigest, limit: null };
}
