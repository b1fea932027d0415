import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCalls, loadCells, oracle, sums, type CellRow } from './support.ts';

let cached: TestAssay;
let uncached: TestAssay;
beforeAll(async () => {
  [cached, uncached] = await Promise.all([createTestAssay(), createTestAssay({ maxCachedWorkflows: 0 })]);
});
afterAll(() => Promise.all([cached.close(), uncached.close()]));

const models = [
  oracle('right', { faults: [{ case: 'sum-2', times: 1, fault: { status: 503, retryAfterMs: 10 } }] }),
  {
    id: 'some',
    provider: 'mock',
    model: 'flaky',
    params: {
      accuracy: 0.5,
      seed: 3,
      latencyMs: [1, 10],
      faults: [{ case: 'sum-3', fault: { status: 400 } }],
    },
  },
];

/** More light attempts than 4 x taskConcurrency in every request, so that tasks share workflows unless told not to. */
const large = {
  models,
  providers: [{ id: 'mock', kind: 'mock', retry: { base: '10ms' } }],
  requests: [
    { name: 'every', suite: sums(4), attempts: { k: 2 } },
    { name: 'until', suite: sums(3), attempts: { k: 3, strategy: 'pass' } },
  ],
};
const small = {
  ...large,
  requests: [{ name: 'until', suite: sums(3), attempts: { k: 2, strategy: 'pass' } }],
};

const withPacking = (
  document: { readonly [key: string]: Json },
  packing: 'auto' | 'off',
  taskConcurrency: number,
) => ({
  ...document,
  execution: { taskConcurrency, seed: 7, packing },
});

type Rows = {
  readonly cells: readonly CellRow[];
  readonly calls: readonly string[];
  readonly children: readonly string[];
};

async function runAndRead(assay: TestAssay, document: Json): Promise<Rows> {
  const runId = await begin(assay, document);
  const { state } = await assay.result(runId);
  if (state !== 'completed') throw new Error(`run ${runId} ended as ${state}`);
  const calls = (await loadCalls(assay, runId)).map(
    (one) => `${one.task}/${one.attempt}/${one.request_number}/${one.state}`,
  );
  return {
    cells: await loadCells(assay, runId),
    calls: calls.toSorted((a, b) => a.localeCompare(b)),
    children: await listChildren(assay, runId),
  };
}

/** What a run's workflow started, by the end of its workflow id. */
async function listChildren({ client }: TestAssay, runId: string): Promise<string[]> {
  const { events } = await client.workflow.getHandle(`run/${runId}`).fetchHistory();
  return (events ?? []).flatMap((event) => {
    const id = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
    return typeof id === 'string' ? [id.replace(`run/${runId}/`, '')] : [];
  });
}

test('the same suite packed and unpacked leaves equal rows', async () => {
  const [packed, single] = await Promise.all([
    runAndRead(cached, withPacking(large, 'auto', 3)),
    runAndRead(cached, withPacking(large, 'off', 3)),
  ]);
  expect(packed.children).toEqual(['every/tasks/1-8', 'until/tasks/9-14']);
  expect(single.children).toHaveLength(14);
  expect(packed.cells).toHaveLength(16 + 18);
  expect(single.cells).toEqual(packed.cells);
  expect(single.calls).toEqual(packed.calls);
});

test('workflows that are replayed from the start at every task leave the same rows, packed and unpacked', async () => {
  const [packed, replayed, single] = await Promise.all([
    runAndRead(cached, withPacking(small, 'auto', 2)),
    runAndRead(uncached, withPacking(small, 'auto', 2)),
    runAndRead(uncached, withPacking(small, 'off', 2)),
  ]);
  expect(replayed.children).toEqual(packed.children);
  expect(replayed).toMatchObject({ cells: packed.cells, calls: packed.calls });
  expect(single).toMatchObject({ cells: packed.cells, calls: packed.calls });
});

test('a pack never has more attempts running than taskConcurrency allows', async () => {
  const runId = await begin(cached, {
    models: [oracle('slow', { latencyMs: 40 })],
    suite: sums(30),
    execution: { taskConcurrency: 3 },
  });
  await cached.result(runId);
  const calls = await loadCalls(cached, runId);
  const running = calls.map(
    ({ started_at: at }) =>
      calls.filter((one) => one.started_at <= at && (one.finished_at ?? at) > at).length,
  );
  expect(Math.max(...running)).toBeLessThanOrEqual(3);
  expect(calls).toHaveLength(30);
});
