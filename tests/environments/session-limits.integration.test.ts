import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { bash, begin, script, sums } from '../workflows/support.ts';

const CAPACITY = 2;
const PER_SECOND = 2;

let assay: TestAssay;
beforeAll(async () => {
  // Read when the worker is built.
  vi.stubEnv('ASSAY_SESSIONS', `host=${CAPACITY}`);
  vi.stubEnv('ASSAY_OPENS_PER_SECOND', String(PER_SECOND));
  assay = await createTestAssay();
});
afterAll(() => assay.close());

test('AC-L3 two runs share the places of a host, and its rate holds for graders’ sessions too', async () => {
  const document = {
    models: [script([bash('echo 42 > answer'), { say: 'done' }])],
    suite: { ...sums(2), scorers: [{ kind: 'command', command: 'grep -qx 42 answer' }] },
    harness: { kind: 'agent', maxSteps: 5 },
    environment: 'host',
    evaluation: 'fresh',
  };
  const runs = [await begin(assay, document), await begin(assay, document)];
  for (const runId of runs)
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
  const { rows } = await assay.db.query<{ purpose: string; openedMs: number; closedMs: number }>(
    `select purpose, extract(epoch from opened_at)::float8 * 1000 as "openedMs",
        extract(epoch from closed_at)::float8 * 1000 as "closedMs"
      from environment_sessions where run_id = any ($1) order by opened_at`,
    [runs],
  );
  expect(rows.map(({ purpose }) => purpose).toSorted()).toEqual([
    ...Array.from({ length: 4 }, () => 'evaluation'),
    ...Array.from({ length: 4 }, () => 'task'),
  ]);
  const openAt = (ms: number): number => rows.filter((row) => row.openedMs <= ms && row.closedMs > ms).length;
  expect(Math.max(...rows.map(({ openedMs }) => openAt(openedMs)))).toBeLessThanOrEqual(CAPACITY);
  // Eight opens, each half a second after the one before; the first is free, and a row is written a little later.
  const tookMs = (rows.at(-1)?.openedMs ?? 0) - (rows[0]?.openedMs ?? 0);
  expect(tookMs).toBeGreaterThan(((rows.length - 1) * 1_000) / PER_SECOND - 1_000);
});
