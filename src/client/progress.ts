import type { Progress, ProgressRow } from '../store/progress.ts';

/** Where a run stands: one moment, read from the store. Times are ISO 8601 in UTC. */
export type RunProgress = Progress & {
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
};

export type ProgressTotals = Omit<ProgressRow, 'requestIndex' | 'requestName' | 'modelId' | 'meanScore'>;

/** All models and requests together; the cost is of what has a price. */
export function sumProgress(rows: readonly ProgressRow[]): ProgressTotals {
  const sum = (pick: (row: ProgressRow) => number): number =>
    rows.reduce((total, row) => total + pick(row), 0);
  const hasCost = rows.some((row) => row.costUsd !== null);
  return {
    planned: sum((row) => row.planned),
    done: sum((row) => row.done),
    scored: sum((row) => row.scored),
    pass: sum((row) => row.pass),
    errors: sum((row) => row.errors),
    unscored: sum((row) => row.unscored),
    notRun: sum((row) => row.notRun),
    skipped: sum((row) => row.skipped),
    costUsd: hasCost ? sum((row) => row.costUsd ?? 0) : null,
    inFlight: sum((row) => row.inFlight),
    waiting: sum((row) => row.waiting),
  };
}
