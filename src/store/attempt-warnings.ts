import type { AttemptKey } from '../domain/ids.ts';
import type { Phase } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { escapeText } from './text.ts';

export type AttemptWarning = {
  readonly tryNumber: number;
  readonly phase: Phase;
  readonly message: string;
};

/** Keeps what went wrong beside an attempt; the same again changes nothing. */
export async function noteWarning(
  db: Db,
  { key, warning }: { readonly key: AttemptKey; readonly warning: AttemptWarning },
): Promise<void> {
  const { runId, task, attempt, generation } = key;
  const { tryNumber, phase, message } = warning;
  await db.query({
    text: `insert into attempt_warnings (run_id, task, attempt, generation, try_number, phase, message)
      values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    values: [runId, task, attempt, generation, tryNumber, phase, escapeText(message.slice(0, 2_000))],
  });
}
