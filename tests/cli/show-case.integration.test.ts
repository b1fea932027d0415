import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeCase } from '../../src/cli/show-case.ts';
import { setRunState } from '../../src/store/runs.ts';
import { attemptKey, openTestStore, prepareRun, recordOne } from '../store/support.ts';

let store: Awaited<ReturnType<typeof openTestStore>>;
beforeAll(async () => {
  store = await openTestStore();
});
afterAll(() => store.close());

const STEPS = 10_000;

/** An attempt of so many steps, each an answer with one call of a tool. */
async function insertSteps(runId: string): Promise<void> {
  const answer = JSON.stringify({
    role: 'assistant',
    text: 'I look.',
    reasoning: null,
    toolCalls: [{ id: '1', name: 'bash', arguments: { kind: 'parsed', value: { command: 'ls' } } }],
  });
  const observed = JSON.stringify({
    role: 'tool',
    toolCallId: '1',
    toolName: 'bash',
    text: 'one file',
    status: 'success',
  });
  const [first, second] = [answer, observed].map((text) => createHash('sha256').update(text).digest('hex'));
  for (const [digest, text] of [
    [first, answer],
    [second, observed],
  ])
    await store.pool.query(
      'insert into blobs (digest, chunk, size_bytes, bytes) values ($1, 0, $2, $3) on conflict do nothing',
      [digest, Buffer.byteLength(text ?? ''), Buffer.from(text ?? '')],
    );
  await store.pool.query(
    `insert into steps (run_id, task, attempt, generation, try_number, sequence, role, digest)
      select $1, 1, 1, 1, 1, 2 * step + place, (array['assistant', 'tool'])[place + 1], (array[$2, $3])[place + 1]
      from generate_series(1, $4::int) step, generate_series(0, 1) place`,
    [runId, first, second, STEPS],
  );
  await store.pool.query(
    `insert into model_calls (run_id, task, attempt, generation, try_number, purpose, step, request_number, model_id,
        engine_id, state, worst_tokens, reserved, input_tokens, output_tokens, cost_usd, latency_ms, finish_reason,
        started_at, finished_at)
      select $1, 1, 1, 1, 1, 'agent', step, 1, 'fast', 'e', 'completed', 9, false, 10, 5, 0.001, 300, 'tool_calls',
        '2026-01-05T12:00:00Z'::timestamptz + step * interval '1 second',
        '2026-01-05T12:00:00.300Z'::timestamptz + step * interval '1 second'
      from generate_series(1, $2::int) step`,
    [runId, STEPS],
  );
  await store.pool.query(
    `insert into tool_calls (run_id, task, attempt, generation, try_number, step, call, tool, arguments_digest,
        idempotent, state, status, started_at, completed_at)
      select $1, 1, 1, 1, 1, step, 1, 'bash', 'd', false, 'completed', 'success',
        '2026-01-05T12:00:00.400Z'::timestamptz + step * interval '1 second',
        '2026-01-05T12:00:00.450Z'::timestamptz + step * interval '1 second'
      from generate_series(1, $2::int) step`,
    [runId, STEPS],
  );
}

const show = (word: string, choice = {}, json = false) =>
  describeCase(store.pool, { word, caseId: 'case-1', choice }, { json });

test('an attempt of ten thousand steps is read page by page, from its end, and whole by programs', async () => {
  await prepareRun(store.pool, 'long');
  await insertSteps('long');
  await recordOne(store.pool, {
    key: attemptKey('long', 1),
    tryNumber: 1,
    outcome: {
      kind: 'scored',
      score: 0,
      pass: false,
      limit: { kind: 'steps', limit: STEPS, measured: STEPS },
    },
    scores: [],
    answerDigest: null,
    answerPreview: null,
  });
  const last = await show('long');
  expect(last.text).toContain('steps 9961 to 10000 of 10000');
  expect(last.text).toContain('2h 46m');
  expect(last.text).toContain('10000 model calls');
  expect(last.text.match(/bash \{"command":"ls"\}/g)).toHaveLength(40);
  expect(last.text.match(/^ {2}step \d+$/gm)).toHaveLength(40);
  expect(last.next[0]).toBe(
    'assay show long case-1 --request main --model fast --attempt 1 --steps 9921-9960',
  );
  const first = await show('long', { steps: { from: 1, to: 40 } });
  expect(first.text.match(/^ {2}step \d+$/gm)?.slice(0, 2)).toEqual(['  step 1', '  step 2']);
  expect(first.next[0]).toBe('assay show long case-1');
  await expect(show('long', { steps: { from: 10_001, to: 10_002 } })).rejects.toThrow(
    'has 10000 steps: there is no step 10001',
  );
  const { document } = await show('long', {}, true);
  expect(document).toMatchObject({
    window: { from: 1, to: STEPS },
    timeline: { steps: STEPS, toolMs: 500_000 },
  });
  expect((document as { transcript: unknown[] }).transcript).toHaveLength(2 * STEPS);
});

test('of several attempts a list says how each ended, and the next command shows the worst', async () => {
  await prepareRun(store.pool, 'several', { k: 2, models: ['fast', 'slow'] });
  await setRunState(store.pool, { runId: 'several', state: 'running' });
  await recordOne(store.pool, {
    key: attemptKey('several', 2, [2, 1]),
    tryNumber: 1,
    outcome: { kind: 'scored', score: 0, pass: false, limit: null },
    scores: [],
    answerDigest: null,
    answerPreview: null,
  });
  const listed = await show('several');
  expect(listed.text).toMatch(/main +slow +2 +scored 0.00, failed/);
  expect(listed.text.match(/not recorded/g)).toHaveLength(3);
  expect(listed.next).toEqual(['assay show several case-1 --model slow --attempt 2']);
  expect((listed.document as { attempts: unknown[] }).attempts).toHaveLength(4);
  const one = await show('several', { model: 'slow', attempt: 2 });
  expect(one.text).toContain('main / slow / case-1 · attempt 2\nscored 0.00, failed');
  await expect(show('several', { model: 'none' })).rejects.toThrow(
    'Models: fast, slow; requests: main; attempts: 1 to 2.',
  );
});
