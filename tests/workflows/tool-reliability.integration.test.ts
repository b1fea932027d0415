import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import {
  bash,
  begin,
  cancelAndWait,
  loadCalls,
  loadCells,
  loadState,
  script,
  sums,
  waitForCalls,
} from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

/** An agent that acts once, then does what `second` says, then answers. */
const document = (second: object, more: { readonly [key: string]: Json } = {}): Json => ({
  models: [script([bash('echo 42 > answer.txt'), second as Json, { say: '1' }])],
  suite: sums(1),
  harness: { kind: 'agent', maxSteps: 5 },
  environment: 'host',
  ...more,
});

type ToolRow = { readonly step: number; readonly status: string; readonly executions: number };

async function loadTools(runId: string): Promise<ToolRow[]> {
  const { rows } = await assay.db.query<ToolRow>(
    'select step, status, executions from tool_calls where run_id = $1 order by step, call',
    [runId],
  );
  return rows;
}

test('AF-09 AF-23 a 429 in the middle of an agent is waited out; the rows say attempt, reason, delay and time-out', async () => {
  const fault = { status: 429, text: 'slow down', retryAfterMs: 400 };
  const runId = await begin(
    assay,
    document({ ...bash('echo begun; sleep 60', { timeout_ms: 300 }), fault, times: 1 }),
  );
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1 } });
  const calls = await loadCalls(assay, runId);
  expect(calls.map((one) => [one.step, one.request_number, one.state, one.failure_class])).toEqual([
    [1, 1, 'completed', null],
    [2, 1, 'failed', 'throttled'],
    [2, 2, 'completed', null],
    [3, 1, 'completed', null],
  ]);
  expect(calls[1]?.failure_message).toContain('slow down');
  const waitedMs = Number(calls[2]?.started_at) - Number(calls[1]?.finished_at);
  expect(waitedMs).toBeGreaterThanOrEqual(400);
  expect(await loadTools(runId)).toEqual([
    { step: 1, status: 'success', executions: 1 },
    { step: 2, status: 'timeout', executions: 1 },
  ]);
});

test('AF-11 when the retries are used up the attempt ends as one without retries does, and its tools ran once', async () => {
  const ends = await Promise.all(
    [0, 2].map(async (max) => {
      const agent = script([bash('true'), { fault: { status: 503 } }]);
      const providers = [{ id: 'flaky', kind: 'mock', retry: { max, base: '10ms' } }];
      const models = [{ ...agent, provider: 'flaky' }];
      const runId = await begin(assay, document({}, { providers, models }));
      await assay.result(runId);
      const [cell] = await loadCells(assay, runId);
      const requests = (await loadCalls(assay, runId)).filter(({ step }) => step === 2).length;
      return { requests, end: [cell?.outcome, cell?.reason_code], tools: await loadTools(runId) };
    }),
  );
  expect(ends.map(({ requests }) => requests)).toEqual([1, 3]);
  expect(ends[0]?.end).toEqual(ends[1]?.end);
  expect(ends[0]?.end).toEqual(['interrupted', 'server']);
  expect(ends[1]?.tools).toEqual([{ step: 1, status: 'success', executions: 1 }]);
});

test('AF-14 a cancel while an agent waits for its next request ends the wait at once, and closes what is open', async () => {
  const runId = await begin(assay, document({ fault: { status: 503, retryAfterMs: 50_000 } }));
  await waitForCalls(assay, runId, { failed: 1 });
  const askedMs = Date.now();
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(Date.now() - askedMs).toBeLessThan(15_000);
  expect(await loadState(assay, runId)).toMatchObject({ state: 'cancelled' });
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'interrupted' }]);
  expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
});

/** All that a run leaves but its name and times: cells, ledger, transcript, and the steps of the attempt's workflow. */
async function readTrace(runId: string) {
  const { rows } = await assay.db.query<{ role: string; digest: string }>(
    'select role, digest from steps where run_id = $1 order by sequence',
    [runId],
  );
  const history = await assay.client.workflow.getHandle(`run/${runId}/sums/agent/sum-1/a1`).fetchHistory();
  const events = (history.events ?? []).map(
    ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name ?? null,
  );
  return {
    cells: await loadCells(assay, runId),
    tools: await loadTools(runId),
    steps: rows,
    activities: events.filter((name) => name !== null),
  };
}

test('AF-27 an agent whose file says nothing of policies runs as with every default written out', async () => {
  const policy = { idempotent: false, timeout: '60s', maxAttempts: 1, onUnknown: 'refuse' };
  const [plain, written] = await Promise.all(
    ['bash', { name: 'bash', ...policy }].map(async (tool) => {
      const harness = { kind: 'agent', maxSteps: 5, tools: [tool] };
      const runId = await begin(assay, document(bash('cat answer.txt; exit 3'), { harness }));
      await assay.result(runId);
      return await readTrace(runId);
    }),
  );
  expect(plain?.cells).toMatchObject([{ outcome: 'scored' }]);
  expect(plain?.activities).toHaveLength(7);
  expect(plain).toEqual(written);
});
