import { formatDifference, type Difference } from './differences.ts';
import { formatCount } from './format-count.ts';

/** What a run asks of another one. */
export type ReuseRequest = {
  readonly runId: string;
  /** Takes cells of equal names whose fingerprints differ, too; reports of the run say so. */
  readonly allowMismatch?: boolean;
};

/** A field that differs, and in how many cells. */
export type CellDifference = Difference & { readonly cells: number };

/** What a run took from another one. */
export type Reuse = {
  readonly runId: string;
  readonly allowMismatch: boolean;
  /** Scored cells of the other run when it was looked at. */
  readonly scored: number;
  /** Cells taken with their scores. */
  readonly taken: number;
  /** Cells of which the answer was taken, and graded again. */
  readonly graded: number;
  /** Of both, those whose fingerprints differ. */
  readonly mismatched: number;
  /** Cells of equal names that were not taken, because their fingerprints differ. */
  readonly refused: number;
  readonly differences: readonly CellDifference[];
};

/** Why a run that can take nothing does not start, or null: it would pay for all that it was to save. */
export function explainRefusal(reuse: Reuse): string | null {
  const { runId, scored, taken, graded } = reuse;
  if (scored === 0 || taken + graded > 0) return null;
  const head = `nothing of run "${runId}" can be taken, so nothing was started`;
  if (reuse.differences.length === 0)
    return `${head}: none of its ${formatCount(scored, 'scored cell')} is of a case, model and request of this run`;
  return [
    `${head}: its cells were made in another way. What differs:`,
    ...reuse.differences.map((one) => `  ${formatCellDifference(one)}`),
    'Run it without --reuse, or take the cells all the same with --allow-mismatch, which every report will say.',
  ].join('\n');
}

export const formatCellDifference = ({ cells, ...difference }: CellDifference): string =>
  `${formatDifference(difference)} (${formatCount(cells, 'cell')})`;

/** One sentence for reports. */
export function describeReuse({ runId, taken, graded, refused, ...reuse }: Reuse): string {
  const again = graded === 0 ? '' : `, and the answers of ${graded} more were graded again`;
  const first = `${formatCount(taken, 'cell')} were taken from run ${runId}${again}; what they cost and called is counted there`;
  if (refused === 0) return first;
  return `${first}. ${formatCount(refused, 'cell')} ran again because they differ: ${listFields(reuse.differences)}`;
}

/** What must be known before such a board is believed; null = everything matches. */
export const describeMismatch = ({ runId, mismatched, differences }: Reuse): string | null =>
  mismatched === 0
    ? null
    : `mismatch allowed: ${formatCount(mismatched, 'cell')} of run ${runId} count here although they were made in another way: ${listFields(differences)}`;

const MAX_NAMED = 5;

function listFields(differences: readonly CellDifference[]): string {
  const named = differences.slice(0, MAX_NAMED).map((one) => formatDifference(one));
  const rest = differences.length - named.length;
  return `${named.join('; ')}${rest > 0 ? `; and ${formatCount(rest, 'more field')}` : ''}`;
}
