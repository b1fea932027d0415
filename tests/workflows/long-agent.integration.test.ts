import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { runLongAgent } from './long-agent.ts';
import { waitFor } from './support.ts';

const STEPS = 500;

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that this process, which is the worker, holds on to. */
function readHeap(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test(
  'an agent of 500 steps (10,000 in the soak) keeps one session, runs each tool once, memory flat, histories under the limit and readable',
  { timeout: 430_000 },
  async () => {
    let heapBefore = 0;
    const long = await runLongAgent(assay, STEPS, async (runId) => {
      await waitFor('the hundredth step', async () => {
        const { rows } = await assay.db.query(
          'select 1 from model_calls where run_id = $1 and step >= 100 limit 1',
          [runId],
        );
        return rows.length > 0;
      });
      heapBefore = readHeap();
    });
    expect(long).toMatchObject({ outcome: 'scored', toolCalls: STEPS, sessions: 1 });
    // A thousand messages of a hundred bytes, and what the test itself has read by then.
    expect((readHeap() - heapBefore) / 2 ** 20).toBeLessThan(24);
    // Twelve events a step; the server of the local stack suggests to continue as new at 8,000.
    const events = long.histories.map((history) => history.events);
    expect(Math.max(...events)).toBeLessThan(10_000);
    expect(events.reduce((sum, count) => sum + count, 0)).toBeGreaterThan(STEPS * 10);
    expect(Math.max(...long.histories.map(({ bytes }) => bytes))).toBeLessThan(8 * 1024 * 1024);
    const summaries = long.histories.flatMap((history) => history.summaries);
    expect(summaries).toContain('agent · sum-1 · attempt 1 · step 500');
    expect(summaries).toContain('step 500 · write_file: {"path":"f9","content":"499"}');
  },
);
