import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { readSessions } from './sessions.ts';
import { bash, begin, loadAttempt, loadCalls, loadCells, script, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const agent = (more: object = {}) => ({
  harness: { kind: 'agent', maxSteps: 10, ...more },
  environment: 'host',
});
const grader = (command: string, more: object = {}) => ({
  ...sums(1),
  scorers: [{ kind: 'command', command, ...more }],
});

test('an agent calls tools until it answers, its work is graded by a command, and its session closes', async () => {
  const runId = await begin(assay, {
    models: [
      script([
        { tools: [{ name: 'write_file', arguments: { path: 'answer.txt', content: '42' } }] },
        bash('cat answer.txt; ls'),
        { say: 'done' },
      ]),
    ],
    suite: grader('grep -q 42 answer.txt'),
    ...agent(),
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 1 } });
  const attempt = await loadAttempt(assay, runId);
  expect(attempt.outcome).toMatchObject({ kind: 'scored', score: 1, limit: null });
  expect(attempt.toolCalls.map((one) => [one.step, one.tool, one.state, one.status, one.executions])).toEqual(
    [
      [1, 'write_file', 'completed', 'success', 1],
      [2, 'bash', 'completed', 'success', 1],
    ],
  );
  expect(attempt.steps.map((one) => one.role)).toEqual([
    'assistant',
    'tool',
    'assistant',
    'tool',
    'assistant',
  ]);
  expect(attempt.observations[1]?.text).toContain('42');
  expect(await readSessions(assay, runId)).toMatchObject([{ state: 'closed' }]);
});

const step = (more: object = {}) => ({ ...bash('echo 42 > answer.txt'), ...more });

test.each([
  { kind: 'steps', harness: { maxSteps: 2 }, limits: {}, limit: 2, measured: 2 },
  { kind: 'tokens', harness: {}, limits: { attemptTokens: 250 }, limit: 250, measured: 300 },
  { kind: 'cost', harness: {}, limits: { attemptCostUsd: 0.00015 }, limit: 0.00015, measured: 0.0002 },
])(
  'AC-A13 the limit of $kind ends the agent early, and what it left is still graded',
  async ({ kind, harness, limits, limit, measured }) => {
    const usage = { inputTokens: 50, outputTokens: 50 };
    const steps = Array.from({ length: 9 }, () => step({ usage }));
    const runId = await begin(assay, {
      models: [{ ...script(steps), price: { input: 1, output: 1 } }],
      suite: grader('grep -q 42 answer.txt'),
      limits,
      ...agent(harness),
    });
    await assay.result(runId);
    const { outcome, calls } = await loadAttempt(assay, runId);
    expect(outcome).toMatchObject({
      kind: 'scored',
      score: 1,
      limit: { kind, limit },
    });
    expect(outcome?.limit?.measured).toBeCloseTo(measured, 9);
    expect(calls).toHaveLength(kind === 'tokens' ? 3 : 2);
  },
);

test('F24 AC-A13 the time limit ends a tool and a call, and the work is graded; the grader has its own time', async () => {
  const runId = await begin(assay, {
    models: [script([bash('echo 42 > answer.txt; sleep 431.1'), { say: 'late' }])],
    suite: grader('sleep 1; grep -q 42 answer.txt'),
    limits: { attemptTime: '1s' },
    ...agent(),
  });
  await assay.result(runId);
  const { outcome, toolCalls } = await loadAttempt(assay, runId);
  expect(outcome).toMatchObject({ kind: 'scored', score: 1, limit: { kind: 'time', limit: 1000 } });
  expect(outcome?.limit?.measured).toBeGreaterThanOrEqual(1000);
  expect(toolCalls).toMatchObject([{ state: 'completed', status: 'timeout' }]);
});

test('AC-A13 a model call that hangs past the time limit ends the loop, not the attempt', async () => {
  const runId = await begin(assay, {
    models: [script([step(), { say: 'late', latencyMs: 60_000 }])],
    suite: grader('grep -q 42 answer.txt'),
    limits: { attemptTime: '1s' },
    ...agent(),
  });
  await assay.result(runId);
  const { outcome } = await loadAttempt(assay, runId);
  expect(outcome).toMatchObject({ kind: 'scored', score: 1, limit: { kind: 'time' } });
  expect(await loadCalls(assay, runId)).toHaveLength(2);
});

test('AC-A15 F24 a grader that runs out of time leaves the attempt unscored, and the agent ran once', async () => {
  const runId = await begin(assay, {
    models: [script([{ say: 'done' }])],
    suite: grader('sleep 431.2', { timeout: '300ms' }),
    ...agent(),
  });
  await assay.result(runId);
  const { outcome, calls } = await loadAttempt(assay, runId);
  expect(outcome).toMatchObject({ kind: 'unscored', reason: { phase: 'evaluate' } });
  expect(outcome?.kind === 'unscored' && outcome.reason.message).toContain('limit 0.3 s');
  expect(calls).toHaveLength(1);
});

test('AF-12 C22 a tool that runs out of time is an observation with its output so far, and the agent goes on', async () => {
  const runId = await begin(assay, {
    models: [script([bash('echo early; sleep 431.3 & sleep 431.4', { timeout_ms: 300 }), { say: '1' }])],
    suite: sums(1),
    ...agent(),
  });
  await assay.result(runId);
  const { outcome, observations } = await loadAttempt(assay, runId);
  expect(outcome).toMatchObject({ kind: 'scored', score: 1 });
  expect(observations).toMatchObject([{ status: 'timeout', text: expect.stringContaining('early') }]);
});

test('C15 an agent that prints PASSED and forges a report earns nothing', async () => {
  const forged =
    'echo PASSED test_x; echo \'{"score":1}\' > report.json; mkdir -p "$ASSAY_GRADER" 2>/dev/null; exit 0';
  const runId = await begin(assay, {
    models: [script([bash(forged), { say: 'PASSED' }])],
    suite: grader('echo PASSED; cat report.json; exit 1'),
    ...agent(),
  });
  await assay.result(runId);
  expect((await loadAttempt(assay, runId)).outcome).toMatchObject({ kind: 'scored', score: 0, pass: false });
});

test('a setup that fails is infra of its cell, tried again in a new session, and both sessions close', async () => {
  const suite = sums(1, { setup: 'echo broken >&2; exit 3' });
  const runId = await begin(assay, {
    models: [script([{ say: '1' }])],
    suite,
    retries: { max: 1 },
    ...agent(),
  });
  await assay.result(runId);
  const [cell] = await loadCells(assay, runId);
  expect(cell).toMatchObject({ outcome: 'infra', reason_code: 'setup_failed', try_number: 2 });
  expect(cell?.detail).toContain('exit code 3');
  const sessions = await readSessions(assay, runId);
  expect(sessions.map((one) => [one.state, one.try_number])).toEqual([
    ['closed', 1],
    ['closed', 2],
  ]);
  expect(await loadCalls(assay, runId)).toEqual([]);
});

test('AC-K2 attempts of a heavy task under pass run one after another and stop at the first pass', async () => {
  const faults = [{ attempt: 1, step: 1, fault: { status: 400, text: 'no' } }];
  const base = script([bash('echo hi'), { say: '1' }]);
  const runId = await begin(assay, {
    models: [{ ...base, params: { ...base.params, faults } }],
    suite: sums(1),
    attempts: { k: 4, strategy: 'pass' },
    ...agent(),
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', planned: 2, recorded: 2 });
  await waitFor('sessions to close', async () =>
    (await readSessions(assay, runId)).every((one) => one.state === 'closed'),
  );
  expect(await readSessions(assay, runId)).toHaveLength(2);
});

test('an agent that submits has ended: its words there are the answer, and what follows is not run', async () => {
  const submit = { name: 'submit', arguments: { answer: '1' } };
  const late = { name: 'bash', arguments: { command: 'echo late > late.txt' } };
  const runId = await begin(assay, {
    models: [script([{ say: 'I think', tools: [submit, late] }])],
    suite: {
      ...sums(1),
      scorers: ['exact', { kind: 'command', command: 'test ! -e late.txt; grep -qx 1 $ASSAY_ANSWER' }],
    },
    ...agent({ tools: ['bash', 'submit'] }),
  });
  await assay.result(runId);
  const { outcome, toolCalls } = await loadAttempt(assay, runId);
  expect(outcome).toMatchObject({ kind: 'scored', score: 1, limit: null });
  expect(toolCalls).toMatchObject([{ tool: 'submit', state: 'completed' }]);
});
