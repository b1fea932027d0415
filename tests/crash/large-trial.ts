import { runCrashTrial, toTrialRunId, type TrialResult } from './crash-trial.ts';
import { watchMemory, type MemoryMark } from './memory-watch.ts';
import { measureHistories, type HistorySizes } from './workflow-count.ts';
import type { Workplace } from './workplace.ts';

export type LargeTrial = {
  readonly cells: number;
  readonly seed: number;
  readonly limitMs: number;
  /** How often memory is looked at. */
  readonly everyMs: number;
};

export type LargeTrialResult = TrialResult & {
  readonly seconds: number;
  readonly histories: HistorySizes;
  readonly memory: readonly MemoryMark[];
};

/** Calls at once. */
const SLOTS = 64;

/** One large run whose command, worker and servers are killed together in its middle; a user watches it again. */
export async function runLargeTrial(
  workplace: Workplace,
  { cells, seed, limitMs, everyMs }: LargeTrial,
): Promise<LargeTrialResult> {
  const startedMs = performance.now();
  const watch = watchMemory(workplace, everyMs);
  const trial = { victim: 'all', seed, packing: 'auto' } as const;
  const moments = [{ afterRequests: Math.floor(cells / 2), delayMs: 0 }];
  let memory: readonly MemoryMark[] = [];
  let result: TrialResult;
  try {
    result = await runCrashTrial(workplace, {
      ...trial,
      size: { cases: cells / 2, slots: SLOTS, moments, limitMs },
    });
  } finally {
    memory = await watch.stop();
  }
  return {
    ...result,
    seconds: (performance.now() - startedMs) / 1_000,
    histories: await measureHistories(workplace.dataDir, toTrialRunId(trial)),
    memory,
  };
}
