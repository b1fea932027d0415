import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CallRequest } from '../../src/store/model-calls.ts';
import { beginCall, completeCall, failCall } from '../../src/store/model-calls.ts';
import { loadBlob } from '../../src/store/blobs.ts';
import { freezeRun, loadRun } from '../../src/store/runs.ts';
import { loadTranscript } from '../../src/store/steps.ts';
import { ENGINE, attemptKey, callKey, openTestStore, prepareRun } from './support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const usage = {
  inputTokens: 10,
  outputTokens: 5,
  reasoningTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
};

const request = (runId: string, task: number, extra: Partial<CallRequest> = {}): CallRequest => ({
  key: callKey(attemptKey(runId, task)),
  modelId: 'fast',
  engineId: ENGINE,
  worstTokens: 100,
  worstUsd: 0.5,
  maxRetries: 2,
  ...extra,
});

const complete = (call: CallRequest, requestNumber: number, costUsd: number | null = 0.1) =>
  completeCall(store.pool, {
    key: call.key,
    requestNumber,
    message: { role: 'assistant', text: 'answer \0 \uD800', reasoning: null, toolCalls: [] },
    sequence: 2,
    finishReason: 'stop',
    usage,
    costUsd,
    latencyMs: 12.5,
    notes: ['a note'],
  });

const fail = (call: CallRequest, requestNumber: number, retryInMs: number | null) =>
  failCall(store.pool, {
    key: call.key,
    requestNumber,
    class: 'server',
    message: 'status 500',
    spend: { kind: 'none' },
    retryInMs,
    latencyMs: 3,
  });

const scopes = async (runId: string) =>
  (
    await store.pool.query(
      `select scope, spent_usd, spent_tokens, reserved_usd, reserved_tokens, open_calls, exceeded_at is not null as exceeded
       from reservations where run_id = $1 order by scope desc`,
      [runId],
    )
  ).rows;

test('FE-02 a redelivery of a recorded call gets the stored answer and calls nobody', async () => {
  await prepareRun(store.pool, 'recorded');
  const call = request('recorded', 1);
  expect(await beginCall(store.pool, call)).toEqual({
    kind: 'granted',
    requestNumber: 1,
    failuresSoFar: 0,
    probe: false,
  });
  const { settled, answer } = await complete(call, 1);
  expect(settled).toBe('settled');
  expect(await beginCall(store.pool, call)).toEqual({
    kind: 'recorded',
    requestNumber: 1,
    answerDigest: answer.digest,
    finishReason: 'stop',
    usage,
    costUsd: 0.1,
    latencyMs: 12.5,
    notes: ['a note'],
  });
  expect((await complete(call, 1)).settled).toBe('repeated');
  expect(JSON.parse((await loadBlob(store.pool, answer.digest)).toString()).text).toBe('answer \0 \uD800');
  const transcript = await loadTranscript(store.pool, { key: call.key, tryNumber: 1, upToSequence: 2 });
  expect(transcript).toMatchObject([{ role: 'assistant', text: 'answer \0 \uD800' }]);
});

test('a run without a cap keeps no reservations', async () => {
  expect(await scopes('recorded')).toEqual([]);
});

test('a call cut off is charged at its worst case and sent again under the next number', async () => {
  await prepareRun(store.pool, 'cut-off', { budgets: { maxRunUsd: 2, maxModelUsd: 2 } });
  const call = request('cut-off', 1);
  await beginCall(store.pool, call);
  expect(await beginCall(store.pool, call)).toEqual({
    kind: 'granted',
    requestNumber: 2,
    failuresSoFar: 0,
    probe: false,
  });
  expect(await scopes('cut-off')).toMatchObject([
    { scope: 'run', spent_usd: 0.5, reserved_usd: 0.5, open_calls: 1 },
    { scope: 'model/fast', spent_usd: 0.5, reserved_usd: 0.5, open_calls: 1 },
  ]);
});

test('a late completion keeps its usage, corrects the charge, and never replaces the answer', async () => {
  const call = request('cut-off', 1);
  expect((await complete(call, 1, 0.2)).settled).toBe('late');
  expect((await complete(call, 2, 0.3)).settled).toBe('settled');
  expect(await beginCall(store.pool, call)).toMatchObject({ kind: 'recorded', requestNumber: 2 });
  expect(await scopes('cut-off')).toMatchObject([
    { scope: 'run', spent_usd: 0.5, spent_tokens: 30, reserved_usd: 0, reserved_tokens: 0, open_calls: 0 },
    {
      scope: 'model/fast',
      spent_usd: 0.5,
      spent_tokens: 30,
      reserved_usd: 0,
      reserved_tokens: 0,
      open_calls: 0,
    },
  ]);
});

test('failures are counted in the row: booked retries wait, the one after the last retry is final', async () => {
  await prepareRun(store.pool, 'retries');
  const call = request('retries', 1);
  await beginCall(store.pool, call);
  expect(await fail(call, 1, 60_000)).toBe('settled');
  const answer = await beginCall(store.pool, call);
  expect(answer).toMatchObject({ kind: 'wait', reason: 'retry' });
  expect(answer.kind === 'wait' && answer.waitMs > 50_000 && answer.waitMs <= 60_000).toBe(true);
  const other = request('retries', 2);
  await beginCall(store.pool, other);
  await fail(other, 1, 0);
  expect(await beginCall(store.pool, other)).toEqual({
    kind: 'granted',
    requestNumber: 2,
    failuresSoFar: 1,
    probe: false,
  });
  await fail(other, 2, 0);
  expect(await beginCall(store.pool, other)).toMatchObject({
    kind: 'granted',
    requestNumber: 3,
    failuresSoFar: 2,
    probe: false,
  });
  await fail(other, 3, null);
  expect(await beginCall(store.pool, other)).toEqual({
    kind: 'failed',
    class: 'server',
    message: 'status 500',
    failures: 3,
  });
});

test('AA-07 C27 the run cap is never passed: calls wait while others are open, then the run is frozen', async () => {
  await prepareRun(store.pool, 'capped', { cases: 4, budgets: { maxRunUsd: 1 } });
  const [first, second, third] = [1, 2, 3].map((task) => request('capped', task));
  expect((await beginCall(store.pool, first!)).kind).toBe('granted');
  expect((await beginCall(store.pool, second!)).kind).toBe('granted');
  expect(await beginCall(store.pool, third!)).toEqual({ kind: 'wait', waitMs: 500, reason: 'reservation' });
  await complete(first!, 1, 0.4);
  await complete(second!, 1, 0.3);
  expect(await beginCall(store.pool, third!)).toEqual({
    kind: 'over_budget',
    scope: 'run',
    cap: 1,
    needed: 1.2,
    unit: 'usd',
  });
  expect(await loadRun(store.pool, 'capped')).toMatchObject({
    state: 'finalizing',
    frozenState: 'stopped_budget',
  });
  expect(await beginCall(store.pool, request('capped', 4))).toEqual({
    kind: 'stopped',
    reason: 'stopped_budget',
  });
  expect((await beginCall(store.pool, first!)).kind).toBe('recorded');
});

test('a model cap stops that model only', async () => {
  await prepareRun(store.pool, 'model-cap', {
    models: ['fast', 'slow'],
    budgets: { maxModelUsd: 0.4, maxRunTokens: 1000 },
  });
  const needed = { kind: 'over_budget', scope: 'model', cap: 0.4, needed: 0.5 };
  expect(await beginCall(store.pool, request('model-cap', 1))).toMatchObject(needed);
  expect(await beginCall(store.pool, request('model-cap', 3, { worstUsd: 0.1 }))).toMatchObject({
    kind: 'over_budget',
  });
  expect(
    await beginCall(store.pool, request('model-cap', 2, { modelId: 'slow', worstUsd: 0.4 })),
  ).toMatchObject({ kind: 'granted' });
  expect(await scopes('model-cap')).toMatchObject([
    { scope: 'run', reserved_tokens: 100, open_calls: 1 },
    { scope: 'model/slow', open_calls: 1 },
    { scope: 'model/fast', open_calls: 0, reserved_usd: 0 },
  ]);
});

test('AA-15 a budget of 0 is a budget: no call is granted', async () => {
  await prepareRun(store.pool, 'zero', { budgets: { maxRunUsd: 0 } });
  expect(await beginCall(store.pool, request('zero', 1))).toMatchObject({ kind: 'over_budget', cap: 0 });
});

test('onExceed: warn lets a call through and records it', async () => {
  await prepareRun(store.pool, 'warned', { budgets: { maxRunUsd: 0.1, onExceed: 'warn' } });
  expect((await beginCall(store.pool, request('warned', 1))).kind).toBe('granted');
  expect(await scopes('warned')).toMatchObject([{ scope: 'run', exceeded: true }]);
});

test('a frozen run and an earlier generation begin no call', async () => {
  await prepareRun(store.pool, 'frozen');
  expect(
    await beginCall(store.pool, request('frozen', 1, { key: callKey(attemptKey('frozen', 1, [1, 2])) })),
  ).toEqual({
    kind: 'stopped',
    reason: 'superseded',
  });
  expect(await freezeRun(store.pool, { runId: 'frozen', state: 'cancelled', reason: 'asked' })).toBe(
    'cancelled',
  );
  expect(await freezeRun(store.pool, { runId: 'frozen', state: 'timed_out', reason: 'late' })).toBe(
    'cancelled',
  );
  expect(await beginCall(store.pool, request('frozen', 1))).toEqual({ kind: 'stopped', reason: 'cancelled' });
});

test('64 calls at once with both caps neither deadlock nor leak', async () => {
  await prepareRun(store.pool, 'crowd', {
    cases: 64,
    models: ['fast', 'slow'],
    budgets: { maxRunUsd: 1000, maxModelUsd: 1000 },
  });
  const calls = Array.from({ length: 128 }, (_, index) =>
    request('crowd', index + 1, { modelId: index % 2 === 0 ? 'fast' : 'slow' }),
  );
  await Promise.all(
    calls
      .flatMap((call) => [call, call])
      .map(async (call) => {
        const answer = await beginCall(store.pool, call);
        if (answer.kind === 'granted') await complete(call, answer.requestNumber);
      }),
  );
  for (const scope of await scopes('crowd')) {
    expect(scope).toMatchObject({ open_calls: 0, reserved_usd: 0, reserved_tokens: 0 });
  }
});

test('settling a request that was never begun is refused', async () => {
  await prepareRun(store.pool, 'never');
  await expect(complete(request('never', 1), 1)).rejects.toThrow('Request 1 of this call was never begun.');
  await expect(beginCall(store.pool, request('nowhere', 1))).rejects.toThrow('There is no run nowhere.');
});
