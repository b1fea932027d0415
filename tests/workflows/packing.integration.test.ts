import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, loadCalls, loadCells, oracle, sums, type CellRow } from './support.ts';

let cached: TestAssay;
let uncached: TestAssay;
beforeAll(async () => {
  [cached, uncached] = await Promise.all([createTestAssay(), createTestAssay({ maxCachedWorkflows: 0 })]);
});
afterAll(() => Promise.all([cached.close(), uncached.close()]));

/** 16 light attempts over 3 places and a request under `pass`: more than 4 x 3 of each, so tasks share workflows. */
const toDocument = (packing: 'auto' | 'off') => ({
  models: [
    oracle('right', { faults: [{ case: 'sum-2', times: 1, fault: { status: 503, retryAfterMs: 10 } }] }),
    { id: 'some', provider: 'mock', model: 'flaky', params: { accuracy: 0.5, seed: 3, latencyMs: [1, 10] } },
    {
      id: 'refused',
      provider: 'mock',
      model: 'oracle',
      params: { faults: [{ fault: { status: 400, text: 'no' } }] },
    },
  ],
  providers: [{ id: 'mock', kind: 'mock', retry: { base: '10ms' } }],
  requests: [
    { name: 'every', suite: sums(4), attempts: { k: 2 } },
    { name: 'until', suite: sums(3), attempts: { k: 3, strategy: 'pass' } },
  ],
  execution: { taskConcurrency: 3, seed: 7, packing },
});

/** Workflow types that a run started, by name. */
async function listWorkflows({ client }: TestAssay, runId: string): Promise<string[]> {
  const types: string[] = [];
  const { history } = await client.workflow
    .getHandle(`run/${runId}`)
    .fetchHistory()
    .then((found) => ({ history: found }));
  for (const event of history.events ?? []) {
    const id = event.startChildWorkflowExecutionInitiatedEventAttributes?.workflowId;
    if (typeof id === 'string') types.push(id.replace(`run/${runId}/`, ''));
  }
  return types;
}

const sent = (calls: Awaited<ReturnType<typeof loadCalls>>) =>
  calls.map((one) => `${one.task}/${one.attempt}/${one.request_number}/${one.state}`).sort();

test('the same suite packed, unpacked, and replayed at every step leaves equal rows', async () => {
  const rows: CellRow[][] = [];
  const calls: string[][] = [];
  for (const assay of [cached, uncached]) {
    const runs = await Promise.all([begin(assay, toDocument('auto')), begin(assay, toDocument('off'))]);
    for (const runId of runs) {
      expect(await assay.result(runId)).toMatchObject({ state: 'completed', missing: [] });
      rows.push(await loadCells(assay, runId));
      calls.push(sent(await loadCalls(assay, runId)));
    }
    expect(await listWorkflows(assay, runs[0])).toEqual(['every/tasks/1-12', 'until/tasks/13-21']);
    expect(await listWorkflows(assay, runs[1])).toHaveLength(21);
  }
  const [first, ...others] = rows;
  expect(first).toHaveLength(24 + 27);
  for (const other of others) expect(other).toEqual(first);
  for (const other of calls) expect(other).toEqual(calls[0]);
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
