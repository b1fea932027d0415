import type { Message } from '../domain/transcript.ts';
import type { AttemptDetail } from '../store/attempt-detail.ts';
import type { Db } from '../store/pool.ts';
import { loadTranscript } from '../store/steps.ts';

/** The messages of the latest try of an attempt, in order. */
export async function loadMessages(db: Db, attempt: AttemptDetail): Promise<readonly Message[]> {
  const tryNumber = Math.max(0, ...attempt.steps.map((step) => step.tryNumber));
  const upToSequence = Math.max(
    0,
    ...attempt.steps.filter((step) => step.tryNumber === tryNumber).map((step) => step.sequence),
  );
  if (upToSequence === 0) return [];
  return loadTranscript(db, { key: attempt.key, tryNumber, upToSequence });
}
