import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { drawFrom } from '../../src/domain/stable-hash.ts';
import { answerSum, sendJson, startModelServer } from './model-server.ts';
import { begin, loadCells, loadState, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

/** `npm run soak:budget` runs twenty. */
const SEEDS = Array.from({ length: Number(process.env['ASSAY_BUDGET_SEEDS'] ?? 2) }, (_, index) => index + 1);
const PRICE = { input: 100, output: 100 };
const OUTPUT = 200;
const CELLS = 120;

test.each(SEEDS)(
  'C27 seed %i: 64 calls at once with random costs, failures and cut connections never bill more than the cap',
  async (seed) => {
    let billedTokens = 0;
    await using server = await startModelServer((response, seen, number) => {
      const fate = drawFrom(`fate/${number}`, seed);
      if (fate < 0.15) return sendJson(response, { error: { message: 'try again' } }, 503);
      const output = Math.ceil(drawFrom(`cost/${number}`, seed) * OUTPUT);
      billedTokens += 20 + output;
      // The model has worked, and nobody hears how much.
      if (fate < 0.25) return void response.socket?.destroy();
      const usage = { prompt_tokens: 20, completion_tokens: output, total_tokens: 20 + output };
      sendJson(response, answerSum(seen, { usage }));
    });
    const maxRunUsd = 0.3 + drawFrom('cap', seed);
    const runId = await begin(assay, {
      name: `budget ${seed}`,
      models: [{ id: 'm', provider: 'local', model: 's', price: PRICE, params: { maxOutputTokens: OUTPUT } }],
      providers: [server.provider({ limits: { concurrency: 64 }, retry: { max: 2, base: '5ms' } })],
      suite: sums(CELLS),
      execution: { taskConcurrency: 64, seed },
      budgets: { maxRunUsd },
    });
    await assay.result(runId);
    const billedUsd = (billedTokens * PRICE.output) / 1_000_000;
    const { rows } = await assay.db.query<{ spent: number; reserved: number; open: number }>(
      `select spent_usd::float8 as spent, reserved_usd::float8 as reserved, open_calls as open
       from reservations where run_id = $1 and scope = 'run'`,
      [runId],
    );
    expect(billedUsd).toBeLessThanOrEqual(maxRunUsd);
    expect(rows).toMatchObject([{ reserved: 0, open: 0 }]);
    // What is unknown is charged at its worst case, so the books never say less than the endpoint.
    expect(rows[0]?.spent).toBeGreaterThanOrEqual(billedUsd - 1e-9);
    expect(rows[0]?.spent).toBeLessThanOrEqual(maxRunUsd);
    expect((await loadState(assay, runId)).state).toBe('stopped_budget');
    expect((await loadCells(assay, runId)).every((cell) => cell.outcome !== null)).toBe(true);
  },
);
