import { afterEach, expect, test } from 'vitest';
import { runCrashTrial, stopAsUser } from './crash-trial.ts';
import type { Victim } from './kills.ts';
import { hasProcessTable } from './processes.ts';
import { createWorkplace, type Workplace } from './workplace.ts';

const SEEDS = [1, 2];
const LATENCY_MS = [20, 120] as const;
const LIMIT_MS = 300_000;

/** Two seeds for each victim, in one stack for each: its second run finds what the first one left behind. */
export function testVictims(victims: readonly Victim[]): void {
  let workplace: Workplace | null = null;
  afterEach(async () => {
    await workplace?.remove();
    workplace = null;
  }, 60_000);

  for (const victim of victims) {
    const name = victim === 'all' ? 'command, worker and both servers at once' : victim;
    test.skipIf(!hasProcessTable)(
      `C1 C2 C3 FE-02 FE-05 AA-10 AC-L12 kill -9 of ${name} loses no cell of a run and repeats no recorded call (needs /proc)`,
      { timeout: LIMIT_MS },
      async () => {
        workplace = await createWorkplace(LATENCY_MS);
        for (const seed of SEEDS) {
          const result = await runCrashTrial(workplace, { victim, seed, packing: 'auto' });
          expect(result).toMatchObject({ problems: [], cellsLost: 0, madeAgain: 0 });
          expect(result.extraRequests).toBeLessThanOrEqual(result.inFlight);
        }
        expect(await stopAsUser(workplace)).toEqual([]);
      },
    );
  }
}
