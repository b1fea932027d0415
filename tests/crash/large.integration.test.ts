import { afterEach, expect, test } from 'vitest';
import { stopAsUser } from './crash-trial.ts';
import { runLargeTrial } from './large-trial.ts';
import { hasProcessTable } from './processes.ts';
import { createWorkplace, type Workplace } from './workplace.ts';

let workplace: Workplace | null = null;

afterEach(async () => {
  await workplace?.remove();
  workplace = null;
}, 60_000);

test.skipIf(!hasProcessTable)(
  'C29 C30 a run of 1,000 cells (20,000 in the soak) whose command, worker and servers are killed in the middle ends with each planned cell once, no recorded call made again, histories and memory within their limits (needs /proc)',
  { timeout: 400_000 },
  async () => {
    workplace = await createWorkplace([5, 20]);
    const result = await runLargeTrial(workplace, {
      cells: 1_000,
      seed: 1,
      limitMs: 300_000,
      everyMs: 1_000,
    });
    expect(result).toMatchObject({ problems: [], cellsLost: 0, madeAgain: 0 });
    expect(result.extraRequests).toBeLessThanOrEqual(result.inFlight);
    // 40 packs of 25 cells, and the run.
    expect(result.histories.executions).toBeGreaterThanOrEqual(41);
    expect(result.histories.mostEvents).toBeLessThan(10_000);
    expect(Math.max(...result.memory.map(({ workerMb }) => workerMb))).toBeLessThan(1_024);
    expect(Math.max(...result.memory.map(({ temporalMb }) => temporalMb))).toBeLessThan(1_536);
    expect(await stopAsUser(workplace)).toEqual([]);
  },
);
