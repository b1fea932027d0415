import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { runLongAgent } from './long-agent.ts';

/** `npm run soak:agent` takes ten thousand. */
const STEPS = Number(process.env['ASSAY_AGENT_STEPS'] ?? 500);

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

test(
  'an agent of 500 steps (10,000 in the soak) keeps one session, runs each tool once, and its histories stay under the limit',
  { timeout: 180_000 + STEPS * 500 },
  async () => {
    const long = await runLongAgent(assay, STEPS);
    expect(long).toMatchObject({ outcome: 'scored', toolCalls: STEPS, sessions: 1 });
    // Twelve events a step; the server of the local stack suggests to continue as new at 8,000.
    expect(Math.max(...long.events)).toBeLessThan(10_000);
    expect(long.events.reduce((sum, events) => sum + events, 0)).toBeGreaterThan(STEPS * 10);
    expect(long.largestBytes).toBeLessThan(8 * 1024 * 1024);
  },
);
