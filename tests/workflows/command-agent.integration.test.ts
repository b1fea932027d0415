import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import { loadBlob } from '../../src/store/blobs.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { countRunning, makeMark } from '../environments/marked-processes.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { agent, runAgents, together, type Parts } from './agent-runs.ts';
import { begin, cancelAndWait, loadCalls, loadCells, sums, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ options: { maxHeartbeatThrottleInterval: 500 } });
});
afterAll(() => assay.close());

const runAll = (agents: { readonly [name: string]: Parts }, more: Parts = {}) =>
  runAgents(assay, agents, more);

test('CB-01 CB-02 AC-A16 the exit of an agent decides its outcome, whatever a stale file says', async () => {
  const graded = { request: { suite: { ...sums(1), scorers: [{ kind: 'command', command: 'true' }] } } };
  const tokens = { usage: { jsonLines: { outputTokens: 'tokens' } } };
  const seen = await runAll({
    wrapped127: agent('no-such-agent', graded),
    missing: agent('', { command: ['no-such-agent'], ...graded }),
    exit126: agent('exit 126', graded),
    tokens127: agent('echo \'{"tokens": 512}\'; exit 127', { ...graded, ...tokens }),
    exit1: agent('echo working; echo broken >&2; exit 1', graded),
    broke: agent('echo "Error: Insufficient credits" >&2; exit 1', graded),
    brokeLater: agent('echo \'{"tokens": 512}\'; echo "Error: Insufficient credits" >&2; exit 1', {
      ...graded,
      ...tokens,
    }),
    fine: agent('echo "Error: Insufficient credits"', graded),
  });
  const ends = Object.fromEntries(
    ['wrapped127', 'missing', 'exit126', 'tokens127', 'exit1', 'broke', 'brokeLater', 'fine'].map((name) => [
      name,
      [seen.cell(name)?.outcome, seen.cell(name)?.reason_code],
    ]),
  );
  expect(ends).toEqual({
    wrapped127: ['infra', 'missing_program'],
    missing: ['infra', 'missing_program'],
    exit126: ['infra', 'missing_program'],
    tokens127: ['error', 'agent_failed'],
    exit1: ['error', 'agent_failed'],
    broke: ['infra', 'billing'],
    brokeLater: ['interrupted', 'billing'],
    fine: ['scored', null],
  });
  expect(seen.reason('exit1').message).toContain('exit code 1, it last printed: broken');
  const rows = await loadReportRows(assay.db, seen.runId);
  const cost = rows.cells.find(({ requestName }) => requestName === 'brokeLater');
  expect(cost).toMatchObject({ usage: { outputTokens: 512, inputTokens: null }, costUsd: null });
});

test('usage is read from JSON lines, a document, a file or a pattern, and what is not said stays unknown', async () => {
  const line = (value: Json): string => `echo '${JSON.stringify(value)}'`;
  const seen = await runAll({
    lines: agent(
      [
        line({ type: 'turn', usage: { in: 10, cached: 5, out: 2 } }),
        'echo some words',
        line({ type: 'turn', usage: { in: 20, cached: 0, out: 3 } }),
        line({ type: 'other', usage: { in: 900 } }),
        line({ type: 'end', text: '1' }),
      ].join('\n'),
      {
        usage: {
          jsonLines: {
            where: { type: 'turn' },
            inputTokens: ['usage.in', 'usage.cached'],
            outputTokens: 'usage.out',
          },
        },
        answer: { jsonLines: { where: { type: 'end' }, path: 'text' } },
      },
    ),
    document: agent(
      `echo starting >&2; printf '{\\n "response": "1",\\n "stats": {"a": {"in": 7, "out": 1}, "b": {"in": 1, "out": 1}}\\n}\\n'; echo bye`,
      {
        usage: { json: { inputTokens: 'stats.*.in', outputTokens: 'stats.*.out' } },
        answer: { json: { path: 'response' } },
      },
    ),
    file: agent(
      `${line({ total: { cost: 0.25 } })} > log.jsonl; ${line({ total: { cost: 0.5 } })} >> log.jsonl; printf 1 > answer.txt`,
      {
        usage: { jsonLines: { file: 'log.jsonl', costUsd: 'total.cost', combine: 'last' } },
        answer: { file: 'answer.txt' },
      },
    ),
    pattern: agent(
      'echo "Tokens: 2.3k sent, 120 received."; echo "Tokens: 1,700 sent, 80 received."; echo 1 > a',
      {
        usage: {
          pattern: { inputTokens: 'Tokens: ([\\d.,]+k?) sent', outputTokens: '([\\d.,]+k?) received' },
        },
        answer: { file: 'a' },
      },
    ),
    silent: agent('echo 1', { usage: { jsonLines: { inputTokens: 'usage.in' } } }),
  });
  const rows = await loadReportRows(assay.db, seen.runId);
  const found = Object.fromEntries(
    rows.cells.map(({ requestName, usage, costUsd, scores }) => [
      requestName,
      [
        usage.inputTokens,
        usage.outputTokens,
        costUsd,
        scores[0]?.verdict.kind === 'scored' && scores[0].verdict.value,
      ],
    ]),
  );
  expect(found).toEqual({
    lines: [35, 5, 0.000085, 1],
    document: [8, 2, 0.000028, 1],
    file: [null, null, 0.5, 1],
    pattern: [4_000, 200, 0.006, 1],
    silent: [null, null, null, 1],
  });
  expect(rows.run.warnings.join()).toContain('2 agents did not say what they used');
});

test('F24 AC-A13 AC-A14 C22 a time-out ends the whole tree, keeps what the agent left, and is graded', async () => {
  const mark = makeMark();
  const stubborn = `trap '' TERM; (setsid sh -c "trap '' TERM; sleep ${mark}" &); echo 42 > answer.txt; echo so far; sleep ${mark}`;
  const scorers = [{ kind: 'command', command: 'test "$(cat answer.txt)" = 42' }];
  const seen = await runAll({
    attempt: agent(stubborn, {
      request: { suite: { ...sums(1), scorers }, limits: { attemptTime: '2s' }, evaluation: 'fresh' },
    }),
    harness: agent(stubborn, { timeout: '2s', request: { suite: { ...sums(1), scorers } } }),
  });
  for (const name of ['attempt', 'harness']) {
    expect(seen.cell(name)).toMatchObject({ outcome: 'scored', score: 1 });
    const { limit } = JSON.parse(seen.cell(name)?.detail ?? '{}');
    expect(limit).toMatchObject({ kind: 'time', limit: 2_000 });
    expect(limit.measured).toBeGreaterThanOrEqual(2_000);
    expect(seen.run(name)).toMatchObject({ timedOut: true, tail: 'so far\n' });
  }
  expect(countRunning(mark)).toBe(0);
});

test('a cancel ends the agent and all that it started, and its cell is interrupted', async () => {
  const mark = makeMark();
  const runId = await begin(assay, together({ only: agent(`trap '' TERM; sleep ${mark} & sleep ${mark}`) }));
  await waitFor('the agent to run', async () => countRunning(mark) === 2);
  await cancelAndWait(assay, runId);
  expect(countRunning(mark)).toBe(0);
  expect(await loadCells(assay, runId)).toMatchObject([{ outcome: 'interrupted' }]);
  const text = `select state, finished_at is not null as over,
      (select count(*)::int from engine_health where probe like $1 || '/%') as probes
    from command_runs where run_id = $1`;
  expect((await assay.db.query(text, [runId])).rows).toEqual([{ state: 'cancelled', over: true, probes: 0 }]);
});

test('100 MB of output leave memory flat; its beginning, its size and its end are kept', async () => {
  const before = process.memoryUsage().rss;
  let peak = before;
  const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 100);
  const seen = await runAll({
    loud: agent('echo first; yes 0123456789abcdef | head -c 100000000; echo; echo the end >&2'),
  });
  clearInterval(watch);
  const run = seen.run('loud');
  expect(run?.outputBytes).toBe(100_000_000 + 'first\n'.length + '\nthe end\n'.length);
  expect(run?.tail.endsWith('the end\n')).toBe(true);
  expect(run?.cutBytes).toBeGreaterThan(0);
  const kept = await loadBlob(assay.db, run?.outputDigest ?? '');
  expect(kept.subarray(0, 6).toString()).toBe('first\n');
  expect(kept.subarray(-8).toString()).toBe('the end\n');
  expect((peak - before) / 2 ** 20).toBeLessThan(150);
});

test('an agent has a minimal environment, with its own variables and a key by name, which is kept nowhere', async () => {
  process.env['ASSAY_CANARY'] = 'leaked-canary';
  process.env['AGENT_TEST_KEY'] = 'key-of-the-agent-123';
  const seen = await runAll({
    only: agent('env; test "$AGENT_KEY" = key-of-the-agent-123 && test "$WHO" = gpt-x && echo 1 > a', {
      variables: { WHO: '{{model}}' },
      variablesEnv: { AGENT_KEY: 'AGENT_TEST_KEY' },
      answer: { file: 'a' },
    }),
  });
  const cut = await runAll({
    only: agent(`echo "$AGENT_KEY$(printf '%0190d' 0)"; exit 1`, {
      variablesEnv: { AGENT_KEY: 'AGENT_TEST_KEY' },
    }),
  });
  expect(cut.reason('only').message).not.toContain('agent-123');
  delete process.env['ASSAY_CANARY'];
  delete process.env['AGENT_TEST_KEY'];
  expect(seen.cell('only')).toMatchObject({ outcome: 'scored', score: 1 });
  const output = (await loadBlob(assay.db, seen.run('only')?.outputDigest ?? '')).toString();
  expect(output).toContain('WHO=gpt-x');
  expect(output).toContain('AGENT_KEY=[redacted]');
  expect(output).not.toContain('leaked-canary');
  expect(seen.run('only')?.tail).not.toContain('key-of-the-agent');
});

test('an agent through the recording proxy: its tokens and cost are those of its requests, its key is worth nothing', async () => {
  const ask = (path: string, body: Json) =>
    `node -e '
      fetch(process.env.URL + "${path}", { method: "POST", headers: { "content-type": "application/json", authorization: "Bearer " + process.env.KEY },
        body: JSON.stringify(${JSON.stringify(body)}) }).then((answer) => answer.json()).then(({ choices }) => console.log(choices[0].message.content))'`;
  const harness = agent(
    `PATH=${process.execPath.replace(/\/node$/, '')}:$PATH; ${ask('/chat/completions', { model: 'any', messages: [{ role: 'user', content: 'hi' }] })}`,
    {
      proxy: true,
      variables: { URL: '{{openaiUrl}}', KEY: '{{token}}' },
    },
  );
  const mock = {
    id: 'm',
    provider: 'mock',
    model: 'oracle',
    params: { usage: { inputTokens: 100, outputTokens: 10 } },
    price: { input: 1, output: 10 },
  };
  const seen = await runAll({ only: harness, none: agent('echo 1', { proxy: true }) }, { models: [mock] });
  expect(seen.cell('only')).toMatchObject({ outcome: 'scored', score: 1 });
  expect(seen.run('only')).toMatchObject({ usageFrom: 'proxy' });
  const rows = await loadReportRows(assay.db, seen.runId);
  expect(
    rows.cells.map(({ usage, costUsd, calls, priced }) => [
      usage.inputTokens,
      usage.outputTokens,
      costUsd,
      calls,
      priced,
    ]),
  ).toEqual([
    [100, 10, 0.0002, 1, true],
    [0, 0, 0, 0, true],
  ]);
  const calls = await loadCalls(assay, seen.runId);
  expect(calls.map(({ state }) => state)).toEqual(['completed', 'completed', 'completed']);
});

test('CB-03 CB-04 CB-13 a wrapper whose program is missing is started once; its other tasks are blocked, another agent runs', async () => {
  const runId = await begin(assay, {
    models: [{ id: 'm', provider: 'mock', model: 'oracle' }],
    requests: ['no-such-agent', 'echo 1'].map((command, index) => ({
      name: index === 0 ? 'wrapped' : 'sound',
      suite: sums(3),
      harness: { kind: 'command', command: ['sh', '-c', command] },
      environment: { kind: 'host' },
    })),
  });
  const result = await assay.result(runId);
  const cells = await loadCells(assay, runId);
  expect(cells.filter((cell) => cell.request === 'sound').map((cell) => cell.outcome)).toEqual([
    'scored',
    'scored',
    'scored',
  ]);
  const wrapped = cells.filter((cell) => cell.request === 'wrapped');
  expect(wrapped.map((cell) => `${cell.outcome} ${cell.try_number}`).toSorted()).toEqual([
    'infra 1',
    'not_run 0',
    'not_run 0',
  ]);
  const starts = await loadCalls(assay, runId);
  expect(starts.filter((call) => wrapped.some((cell) => cell.task === call.task))).toHaveLength(1);
  expect(result.reason?.message).toMatch(
    /^2 cells not run: engine "sh" is down: the program is missing .*; install the program, .*assay resume/,
  );
});
