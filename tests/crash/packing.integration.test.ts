import { afterEach, expect, test } from 'vitest';
import { runAgentTrial } from './agent-trial.ts';
import { runCrashTrial, stopAsUser } from './crash-trial.ts';
import { hasProcessTable } from './processes.ts';
import { countWorkflows } from './workflow-count.ts';
import { createWorkplace, type Workplace } from './workplace.ts';

const LIMIT_MS = 300_000;
let workplace: Workplace | null = null;

afterEach(async () => {
  await workplace?.remove();
  workplace = null;
}, 60_000);

test.skipIf(!hasProcessTable)(
  'a worker killed in the middle of a pack repeats nothing that is recorded, with packing off the same (needs /proc)',
  { timeout: LIMIT_MS },
  async () => {
    workplace = await createWorkplace([20, 120]);
    const { dataDir } = workplace;
    for (const [packing, tasks, attempts] of [
      ['auto', 8, 0],
      ['off', 200, 200],
    ] as const) {
      const seed = packing === 'auto' ? 11 : 12;
      const runId = `worker-${seed}`;
      const result = await runCrashTrial(workplace, { victim: 'worker', seed, packing });
      expect(result).toMatchObject({ problems: [], cellsLost: 0, madeAgain: 0 });
      // Without packing calls are short against what a workflow costs: often none is in flight.
      expect(result.inFlight).toBeGreaterThanOrEqual(packing === 'auto' ? 1 : 0);
      expect(await countWorkflows(dataDir, { runId, type: 'task' })).toBe(tasks);
      expect(await countWorkflows(dataDir, { runId, type: 'attempt' })).toBe(attempts);
    }
    expect(await stopAsUser(workplace)).toEqual([]);
  },
);

test.skipIf(!hasProcessTable)(
  'AF-17 C28 a tool that was running when its worker was killed never runs twice: its attempt is refused, others go on (needs /proc)',
  { timeout: LIMIT_MS },
  async () => {
    workplace = await createWorkplace([20, 100]);
    const result = await runAgentTrial(workplace);
    expect(result.problems).toEqual([]);
    expect(result.refused).toBeGreaterThan(0);
    expect(result.scored + result.refused).toBe(12);
    expect(await stopAsUser(workplace)).toEqual([]);
  },
);
