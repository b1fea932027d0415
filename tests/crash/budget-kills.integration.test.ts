import { afterAll, beforeAll, expect, test } from 'vitest';
import { runBudgetTrial, type BudgetTrialResult } from './budget-trial.ts';
import { keepBudgetTable } from './budget-table.ts';
import { hasProcessTable } from './processes.ts';
import { createWorkplace, type Workplace } from './workplace.ts';

/** Two in the suite; `npm run soak:budget` makes twenty and keeps the table. */
const COUNT = Number(process.env['ASSAY_BUDGET_SEEDS'] ?? 2);
const SEEDS = Array.from({ length: COUNT }, (_, index) => index + 1);

/** Long enough that 64 are in flight even where a busy machine sends them one by one. */
const LATENCY_MS = [800, 1_800] as const;

const results: BudgetTrialResult[] = [];
let workplace: Workplace;

beforeAll(async () => {
  workplace = await createWorkplace(LATENCY_MS);
}, 60_000);

afterAll(async () => {
  await workplace.remove();
  if (COUNT > 2) keepBudgetTable(results);
}, 60_000);

test.skipIf(!hasProcessTable).each(SEEDS)(
  'C27 AA-07 seed %i: with 64 calls at once and kill -9 of worker, Postgres or Temporal the cap holds by the count of the endpoint, no reserve is left, calls that were cut off are charged at their worst case, and reserves alone stop no run (needs /proc)',
  { timeout: 300_000 },
  async (seed) => {
    const result = await runBudgetTrial(workplace, seed);
    results.push(result);
    expect(result.problems).toEqual([]);
  },
);
