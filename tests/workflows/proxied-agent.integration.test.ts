import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatAttempt } from '../../src/cli/format-attempt.ts';
import type { Json } from '../../src/domain/json.ts';
import { loadAttemptDetail } from '../../src/store/attempt-detail.ts';
import { loadCases } from '../../src/store/plans.ts';
import { loadTranscript } from '../../src/store/steps.ts';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { sendJson, startHttpServer, toCompletion } from '../providers/http-server.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { begin, cancelAndWait, countOutcomes, loadCells, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ options: { maxHeartbeatThrottleInterval: 500 } });
});
afterAll(() => assay.close());

/** An agent of bash alone: `ask BODY` sends a chat request and prints what came. */
const CLIENT = `
ask() {
  local place=\${URL#http://*:} text="$1"
  exec 3<>"/dev/tcp/127.0.0.1/\${place%%/*}" || return 1
  printf 'POST /v1/chat/completions HTTP/1.0\\r\\nauthorization: Bearer %s\\r\\ncontent-length: %s\\r\\n\\r\\n%s' "$KEY" "\${#text}" "$text" >&3
  cat <&3
  exec 3>&-
}
`;

const agent = (script: string, more: { readonly [key: string]: Json } = {}) => ({
  kind: 'command',
  command: ['bash', '-c', `${CLIENT}\n${script}`, 'agent'],
  proxy: true,
  variables: { URL: '{{openaiUrl}}', KEY: '{{token}}' },
  ...more,
});

const toBody = (messages: Json, more: object = {}): string =>
  `'${JSON.stringify({ model: 'any', messages, ...more })}'`;
const ASK = `ask ${toBody([{ role: 'user', content: 'Go.' }])}`;

const mock = (script: Json, more: { readonly [key: string]: Json } = {}) => ({
  id: 'm',
  provider: 'mock',
  model: 'script',
  params: { script: { cases: {}, default: { good: script, bad: [] } }, maxOutputTokens: 100 },
  price: { input: 1, output: 10 },
  ...more,
});

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: environment bubblewrap: ${problem}`);

describe.skipIf(problem !== null)('in bubblewrap without a network', () => {
  test('AC-N6 an external agent reaches its model alone, and what it was told and said is shown', async () => {
    const usage = { inputTokens: 100, outputTokens: 10 };
    const tool = { name: 'run', arguments: { command: 'ls' } };
    const first = [
      { role: 'system', content: 'You are careful.' },
      { role: 'user', content: 'Look around.' },
    ];
    const call = {
      id: 'c00001001',
      type: 'function',
      function: { name: 'run', arguments: '{"command":"ls"}' },
    };
    const second = [
      ...first,
      { role: 'assistant', content: 'I look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c00001001', content: 'one file' },
    ];
    const harness = agent(`
      ask ${toBody(first)} | grep -q tool_calls || exit 1
      ask ${toBody(second)} | grep -q "All done" || exit 1
      (exec 4<>/dev/tcp/192.0.2.1/80) 2>/dev/null && echo reached the net
      env | grep -c API_KEY
      echo 1`);
    const runId = await begin(assay, {
      models: [
        mock([
          { say: 'I look.', tools: [tool], usage },
          { say: 'All done.', usage },
        ]),
      ],
      requests: [
        {
          name: 'alone',
          suite: { ...sums(1), scorers: [{ kind: 'regex', pattern: '^0\\n1$' }] },
          harness,
          environment: { kind: 'bubblewrap', network: 'none' },
        },
      ],
    });
    await assay.result(runId);
    const [cell] = await loadCells(assay, runId);
    expect(cell).toMatchObject({ outcome: 'scored', score: 1 });
    const shown = await show(runId);
    expect(shown).toMatch(
      /Transcript\n +system\n +You are careful\.\n\n +user\n +Look around\.\n\n +step 1\n +assistant\n +I look\.\n +calls run\n +\{"command":"ls"\}\n\n +tool run, success\n +one file\n\n +step 2\n +assistant\n +All done\.\n/,
    );
    expect(shown).toMatch(/ 1 +model +100 > 10 /);
    expect(shown).toMatch(/ 2 +model +100 > 10 /);
  });
});

test('a budget ends the agents of a run, by the count of the endpoint itself', async () => {
  const usage = { prompt_tokens: 20, completion_tokens: 100, total_tokens: 120 };
  await using endpoint = await startHttpServer((response) =>
    sendJson(response, toCompletion({ content: 'again' }, { usage })),
  );
  const runId = await begin(assay, {
    providers: [{ id: 'served', kind: 'openai-compatible', baseUrl: endpoint.baseUrl }],
    models: [
      {
        id: 'm',
        provider: 'served',
        model: 'tiny',
        params: { maxOutputTokens: 100 },
        price: { input: 1, output: 10 },
      },
    ],
    requests: [
      {
        name: 'greedy',
        suite: sums(4),
        harness: agent(`while ${ASK} | grep -q again; do :; done; echo 1`),
        environment: 'host',
      },
    ],
    budgets: { maxRunUsd: 0.02 },
  });
  const { state } = await assay.result(runId);
  expect(state).toBe('stopped_budget');
  const asked = endpoint.requests.filter(({ method }) => method === 'POST');
  const spent = (asked.length * (20 + 10 * 100)) / 1e6;
  expect(spent).toBeLessThanOrEqual(0.02);
  expect(spent).toBeGreaterThan(0.015);
  const outcomes = await countOutcomes(assay, runId);
  expect((outcomes['interrupted'] ?? 0) + (outcomes['not_run'] ?? 0)).toBe(4);
  expect(outcomes['interrupted']).toBeGreaterThan(0);
});

test('a provider that refuses its key stops its own models under an agent, and not the agent', async () => {
  const refusal = { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } };
  await using dead = await startHttpServer((response, { method }) =>
    method === 'GET' ? sendJson(response, {}) : sendJson(response, refusal, 401),
  );
  await using sound = await startHttpServer((response) =>
    sendJson(
      response,
      toCompletion({ content: 'fine' }, { usage: { completion_tokens: 1, prompt_tokens: 1 } }),
    ),
  );
  const endpoints = { dead, sound };
  const names = Object.keys(endpoints);
  const runId = await begin(assay, {
    providers: Object.entries(endpoints).map(([id, { baseUrl }]) => ({
      id,
      kind: 'openai-compatible',
      baseUrl,
    })),
    models: names.map((id) => ({ id, provider: id, model: 'tiny' })),
    requests: [
      {
        name: 'both',
        suite: sums(3),
        harness: agent(`${ASK} | grep -q fine || exit 1; echo 1`),
        environment: 'host',
      },
    ],
    execution: { taskConcurrency: 1 },
  });
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  const outcomesOf = (id: string) =>
    cells.filter((cell) => cell.model_id === id).map(({ outcome }) => outcome);
  expect(outcomesOf('sound')).toEqual(['scored', 'scored', 'scored']);
  expect(outcomesOf('dead').filter((outcome) => outcome !== 'not_run')).toEqual(['infra']);
});

test('a cap on turns and on tokens ends an agent early, and it is graded', async () => {
  const usage = { inputTokens: 100, outputTokens: 10 };
  const steps = Array.from({ length: 1 }, () => ({ say: 'again', usage }));
  const loop = agent(`while ${ASK} | grep -q again; do :; done; echo 1`);
  const request = (name: string, more: object) => ({
    name,
    suite: sums(1),
    environment: 'host',
    ...more,
  });
  const runId = await begin(assay, {
    models: [mock(steps)],
    requests: [
      request('turns', { harness: { ...loop, maxTurns: 3 } }),
      request('tokens', { harness: loop, limits: { attemptTokens: 200 } }),
    ] as Json,
  });
  await assay.result(runId);
  const cells = await loadCells(assay, runId);
  expect(
    cells.map(({ outcome, score, detail }) => [outcome, score, JSON.parse(detail ?? '{}').limit]),
  ).toEqual([
    ['scored', 1, { kind: 'steps', limit: 3, measured: 3 }],
    ['scored', 1, { kind: 'tokens', limit: 200, measured: 220 }],
  ]);
});

test('a cancel in the middle of a request ends it at the endpoint and settles it', async () => {
  const left = Promise.withResolvers<void>();
  await using endpoint = await startHttpServer((response, { method }) => {
    if (method === 'GET') return sendJson(response, {});
    response.once('close', () => left.resolve());
  });
  const runId = await begin(assay, {
    providers: [{ id: 'served', kind: 'openai-compatible', baseUrl: endpoint.baseUrl }],
    models: [{ id: 'm', provider: 'served', model: 'tiny' }],
    requests: [{ name: 'hangs', suite: sums(1), harness: agent(ASK), environment: 'host' }],
  });
  await waitFor('the request', async () => endpoint.requests.some(({ method }) => method === 'POST'));
  await cancelAndWait(assay, runId);
  await left.promise;
  const { rows } = await assay.db.query<{ state: string }>(
    `select state from model_calls where run_id = $1 and purpose = 'agent'`,
    [runId],
  );
  expect(rows.map(({ state }) => state)).not.toContain('started');
});

/** As `assay show` prints the attempt of the first case. */
async function show(runId: string): Promise<string> {
  const caseId = 'sum-1';
  const [attempt] = await loadAttemptDetail(assay.db, { runId, caseId });
  const stored = (await loadCases(assay.db, { runId, requestIndex: 0, caseIds: [caseId] })).get(caseId);
  const transcript = await loadTranscript(assay.db, { key: attempt!.key, tryNumber: 1, upToSequence: 99 });
  return formatAttempt({
    attempt: { ...attempt!, requestName: 'alone' },
    testCase: stored!.testCase,
    transcript,
    window: { from: 1, to: 40, total: 40 },
  });
}
