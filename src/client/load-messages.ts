import type { Message } from '../domain/transcript.ts';
import type { AttemptDetail } from '../store/attempt-detail.ts';
import type { Db } from '../store/pool.ts';
import { loadSteps } from '../store/steps.ts';

/**
 * The messages of the latest try of an attempt, in order; of the given steps only, each an answer and what followed it
 * (both ends included, from 1).
 */
export async function loadMessages(
  db: Db,
  { key, origin, steps }: AttemptDetail,
  range: { readonly from: number; readonly to: number } = { from: 1, to: Number.POSITIVE_INFINITY },
): Promise<readonly Message[]> {
  const tryNumber = steps.at(-1)?.tryNumber;
  if (tryNumber === undefined) return [];
  const own = steps.filter((step) => step.tryNumber === tryNumber);
  const answers = own.filter(({ role }) => role === 'assistant');
  const first = answers[range.from - 1];
  const after = answers[range.to];
  const last = own.at(-1)?.sequence ?? 0;
  if (range.from > 1 && first === undefined) return [];
  const loaded = await loadSteps(db, {
    key: origin ?? key,
    tryNumber,
    afterSequence: range.from <= 1 || first === undefined ? 0 : first.sequence - 1,
    upToSequence: after === undefined ? last : after.sequence - 1,
  });
  return loaded.map(({ message }) => message);
}
