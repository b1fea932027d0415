import { afterAll, beforeAll, expect, test } from 'vitest';
import { formatAttempt } from '../../src/cli/format-attempt.ts';
import type { AttemptDetail } from '../../src/store/attempt-detail.ts';
import { loadCases } from '../../src/store/plans.ts';
import { loadTranscript } from '../../src/store/steps.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { sendJson, startModelServer, toCompletion } from './model-server.ts';
import { begin, loadAttempt, sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const agent = (tools: readonly string[]) => ({
  harness: { kind: 'agent', maxSteps: 10, tools },
  environment: 'host',
});

test('F19 arguments that are no arguments: every call gets one answer and the attempt is scored', async () => {
  const call = (id: string, name: string, args: string) => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  });
  await using server = await startModelServer((response, seen, number) => {
    if (number === 1) {
      const calls = [
        call('c1', 'list_files', ''),
        call('c2', 'read_file', '{"path": "a.tx'),
        call('c3', 'bash', '{"command":"echo hi"}'),
        call('c4', 'functions.bash', '{}'),
        call('c5', '', '{}'),
      ];
      return sendJson(response, toCompletion({ content: null, tool_calls: calls }, {}, 'tool_calls'));
    }
    const problem = findHistoryProblem(seen.body['messages'] as HistoryMessage[]);
    if (problem !== null) return sendJson(response, { error: { message: problem } }, 400);
    sendJson(response, toCompletion({ content: '1' }));
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: sums(1),
    ...agent(['list_files', 'read_file', 'bash']),
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1 } });
  expect(server.calls()).toHaveLength(2);
  const { toolCalls, observations } = await loadAttempt(assay, runId);
  expect(toolCalls.map((one) => [one.tool, one.executions])).toHaveLength(5);
  expect(observations.map((one) => one.status)).toEqual(['success', 'error', 'success', 'error', 'error']);
  expect(observations[1]?.text).toContain('not JSON');
  expect(observations[2]?.text).toContain('hi');
  expect(
    observations.filter((one) => one.text.includes('list_files, read_file, bash')).length,
  ).toBeGreaterThan(0);
});

test('arguments that can be mended are, once, and the row, the next request and `assay show` say so; what cannot is told', async () => {
  const call = (id: string, args: string) => ({
    id,
    type: 'function',
    function: { name: 'bash', arguments: args },
  });
  const histories: (readonly HistoryMessage[])[] = [];
  await using server = await startModelServer((response, seen, number) => {
    histories.push(seen.body['messages'] as HistoryMessage[]);
    if (number > 1) return sendJson(response, toCompletion({ content: '1' }));
    const calls = [
      call('c1', "```json\n{'command': 'echo one >> log',}\n```"),
      call('c2', '{"command": "echo two >> log", "timeout_ms": "5000"}'),
      call('c3', '{"cmd": "echo three >> log"}'),
    ];
    sendJson(response, toCompletion({ content: null, tool_calls: calls }, {}, 'tool_calls'));
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: {
      ...sums(1),
      scorers: [{ kind: 'command', command: 'test "$(cat log | tr "\\n" " ")" = "one two "' }],
    },
    ...agent(['bash']),
  });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 1 } });
  const attempt = await loadAttempt(assay, runId);
  expect(attempt.outcome).toMatchObject({ score: 1 });
  expect(attempt.toolCalls.map((one) => [one.status, one.repaired])).toEqual([
    ['success', true],
    ['success', true],
    ['error', false],
  ]);
  expect(attempt.observations[2]?.text).toBe(
    'bash was not run. command: is missing; cmd: there is no such argument',
  );
  const asked = histories[1]?.flatMap((message) => message.tool_calls ?? []);
  expect(asked?.map((one) => JSON.parse(one.function.arguments) as unknown)).toEqual([
    { command: 'echo one >> log' },
    { command: 'echo two >> log', timeout_ms: 5000 },
    { cmd: 'echo three >> log' },
  ]);
  const shown = await show(runId, attempt);
  expect(shown).toMatch(/1 +bash \{.*\} +success: arguments repaired\n/);
  expect(shown).toMatch(/repaired from: ```json\s+\{'command': 'echo one >> log',\}/);
});

/** As `assay show` prints an attempt. */
async function show(runId: string, attempt: AttemptDetail): Promise<string> {
  const [stored] = await loadCases(assay.db, { runId, requestIndex: 0, caseIds: ['sum-1'] }).then((found) => [
    ...found.values(),
  ]);
  if (stored === undefined) throw new Error('no case');
  const transcript = await loadTranscript(assay.db, { key: attempt.key, tryNumber: 1, upToSequence: 99 });
  return formatAttempt({
    attempt: { ...attempt, requestName: 'sums' },
    testCase: stored.testCase,
    transcript,
    window: { from: 1, to: 40, total: 40 },
  });
}

type HistoryMessage = {
  readonly role: string;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly arguments: string } }[];
};

/** What a strict endpoint says about a transcript: one tool message for each call, arguments that are JSON. */
function findHistoryProblem(messages: readonly HistoryMessage[]): string | null {
  const calls = messages.flatMap((message) => message.tool_calls ?? []);
  const answers = messages
    .filter((message) => message.role === 'tool')
    .map((message) => message.tool_call_id);
  if (new Set(calls.map((one) => one.id)).size !== calls.length) return 'ids of tool calls are not unique';
  for (const one of calls) {
    if (answers.filter((id) => id === one.id).length !== 1)
      return `call ${one.id} has not exactly one answer`;
    try {
      JSON.parse(one.function.arguments);
    } catch {
      return `arguments of ${one.id} are not JSON`;
    }
  }
  return answers.length === calls.length ? null : 'a tool message without its call';
}
