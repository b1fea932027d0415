import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startHttpServer } from '../providers/http-server.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer } from './model-server.ts';
import { begin, countOutcomes, loadCalls, loadCells, loadState, oracle, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({
    options: { maxHeartbeatThrottleInterval: 500, defaultHeartbeatThrottleInterval: 500 },
  });
});
afterAll(() => assay.close());

test('AC-L5 at the deadline the run is frozen as timed_out before its calls are cut off', async () => {
  const faults = [{ case: 'sum-2', fault: { kind: 'hang' } }];
  const runId = await begin(assay, {
    models: [oracle('right', { faults })],
    suite: sums(3),
    execution: { timeout: '3s' },
  });
  await waitFor('the frozen state', async () => (await loadState(assay, runId)).state === 'finalizing');
  expect((await loadCalls(assay, runId)).map((one) => one.state)).toContain('started');
  expect(await assay.result(runId)).toMatchObject({
    state: 'timed_out',
    outcomes: { scored: 2, interrupted: 1 },
    reason: { code: 'timed_out', message: expect.stringContaining('execution.timeout') },
  });
  const [interrupted] = (await loadCells(assay, runId)).filter((one) => one.outcome === 'interrupted');
  expect(JSON.parse(interrupted?.detail ?? '')).toMatchObject({
    reason: { code: 'timed_out', phase: 'run' },
  });
});

test('AC-L4 a slow preflight does not eat the deadline', async () => {
  await using server = await startModelServer((response, seen) => sendJson(response, answerSum(seen)));
  await using slow = await startSlowHealth(4_000);
  const runId = await begin(assay, {
    providers: [server.provider(), { id: 'slow', kind: 'openai-compatible', baseUrl: slow.baseUrl }],
    models: [
      { id: 'one', provider: 'local', model: 'm' },
      { id: 'two', provider: 'slow', model: 'm' },
    ],
    suite: sums(2),
    execution: { timeout: '4s' },
  });
  const result = await assay.result(runId);
  expect(result).toMatchObject({ state: 'completed', recorded: 4 });
});

async function startSlowHealth(delayMs: number) {
  return startHttpServer(async (response, seen) => {
    if (seen.method === 'GET') await sleep(delayMs);
    sendJson(response, seen.method === 'GET' ? { data: [] } : answerSum(seen));
  });
}

test('AA-13 fail-fast: after the first failure no queued call starts, and calls in flight are kept', async () => {
  let failedAt = 0;
  const late: string[] = [];
  await using server = await startModelServer(async (response, seen, number) => {
    if (failedAt > 0 && Date.now() - failedAt > 500) late.push(seen.text);
    if (number !== 3) {
      await sleep(number === 4 ? 400 : 20);
      return sendJson(response, answerSum(seen));
    }
    failedAt = Date.now();
    sendJson(
      response,
      { error: { message: 'this input is not allowed', type: 'invalid_request_error' } },
      400,
    );
  });
  const runId = await begin(assay, {
    providers: [server.provider({ limits: { concurrency: 2 } })],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: sums(40),
    execution: { taskConcurrency: 4, failFast: true },
  });
  const result = await assay.result(runId);
  expect(result.state).toBe('aborted');
  expect(late).toEqual([]);
  expect(server.calls().length).toBeLessThan(10);
  const outcomes = await countOutcomes(assay, runId);
  expect(outcomes).toMatchObject({ error: 1, scored: server.calls().length - 1 });
  expect(outcomes['not_run']).toBe(40 - server.calls().length);
});
