import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { resumeRun } from '../../src/client/control-run.ts';
import type { Json } from '../../src/domain/json.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRun } from '../../src/store/runs.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { listStates, provider, RUBRIC, runJudged, toDocument } from './judge-runs.ts';
import { isRight, judgeNaively, JUDGE_USAGE, readAsked, reply, startJudge } from './judge-server.ts';
import { sendJson, startModelServer } from './model-server.ts';
import { bash, begin, cancelAndWait, countOutcomes, loadCalls, script, waitFor } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay({ holdPace: { firstHoldMs: 2_000 } });
});
afterAll(() => assay.close());

const judge = (document: Parameters<typeof runJudged>[1]) => runJudged(assay, document);

const REPLIES: { readonly [caseId: string]: readonly string[] } = {
  prose: ['It is a good answer.', 'Truly good.'],
  empty: ['{}', '{}'],
  two: ['{"verdict": "pass"} {"verdict": "fail"}', 'Verdict: pass\nVerdict: fail'],
  outside: ['{"verdict": "excellent"}', '{"verdict": 11}'],
  repaired: ['So I say: {"reason": "yes", "verdict": "PASS"}.'],
  asked: ['Hm.', '{"reason": "after all", "verdict": "fail"}'],
};

test('C13 a reply is repaired, asked for once more, and then there is no verdict: its text is kept, the run goes on', async () => {
  const seen = new Map<string, number>();
  await using server = await startJudge(({ blocks }) => {
    const id = blocks.get('answer') ?? '';
    const before = seen.get(id) ?? 0;
    seen.set(id, before + 1);
    return REPLIES[id]?.[before] ?? 'asked too often';
  });
  const answers = Object.fromEntries(Object.keys(REPLIES).map((id) => [id, id]));
  const { runId, result, verdicts, values } = await judge(
    toDocument({ provider: provider(server), answers, rest: { gates: { maxUnscoredRate: 0.5 } } }),
  );
  expect(values).toEqual({
    prose: 'unreadable',
    empty: 'unreadable',
    two: 'unreadable',
    outside: 'unreadable',
    repaired: 1,
    asked: 0,
  });
  expect(Object.fromEntries(seen)).toEqual({ prose: 2, empty: 2, two: 2, outside: 2, repaired: 1, asked: 2 });
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 2, unscored: 4 } });
  expect(verdicts.get('prose')?.explanation).toContain('it said "Truly good."');
  const report = summarize(await loadReportRows(assay.db, runId));
  expect(report.boards[0]?.rows[0]?.figures).toMatchObject({ mean: { value: 0.5, cases: 2 } });
  expect(report.gateFailures.map(({ gate }) => gate)).toContain('maxUnscoredRate');
});

const two = { first: 'Paris', second: 'Lyon', third: 'Paris', fourth: 'Lyon' };

test('FE-10 CB-12 a judge that is down costs one call and leaves its cells without a score; a resume asks again', async () => {
  let isDown = true;
  await using server = await startModelServer((response, seen) =>
    isDown
      ? sendJson(response, { error: { message: 'Incorrect API key provided', code: 'invalid_api_key' } }, 401)
      : reply(response, judgeNaively(readAsked(seen))),
  );
  const { runId, result, values, verdicts } = await judge(
    toDocument({ provider: provider(server), answers: two }),
  );
  expect(server.calls()).toHaveLength(1);
  expect(result).toMatchObject({ state: 'completed', outcomes: { unscored: 4 } });
  expect(Object.values(values).toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
    'judge_down',
    'judge_down',
    'judge_down',
    'judge_failed',
  ]);
  const down = [...verdicts.values()].find((one) => one?.kind === 'unscored' && one.code === 'judge_down');
  expect(down?.explanation).toContain(`the credential was refused`);
  expect(down?.explanation).toContain(`assay resume ${runId}`);
  isDown = false;
  const run = await loadRun(assay.db, runId);
  if (run === null) throw new Error('the run is gone');
  await resumeRun(assay.connection, { run, budgets: {}, outcomes: ['unscored'] });
  expect(await assay.result(runId)).toMatchObject({ outcomes: { scored: 4 } });
});

test('FE-10 a judge that is down keeps nothing from a score where it is optional, and no agent of its engine from running', async () => {
  await using server = await startModelServer((response, seen) =>
    JSON.stringify(seen.body).includes('You judge an answer')
      ? sendJson(response, { error: { message: 'Incorrect API key provided' } }, 401)
      : reply(response, 'Paris'),
  );
  const document = toDocument({ provider: provider(server), answers: two });
  const suite = document['suite'] as { readonly cases: Json };
  const { result, cells } = await judge({
    ...document,
    models: [{ id: 'm', provider: 'judge', model: 'small' }],
    suite: { ...suite, scorers: ['exact', { kind: 'judge', rubric: RUBRIC, required: false }] },
  });
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 4 } });
  expect(cells.every(({ outcome }) => outcome?.kind === 'scored' && outcome.score === 1)).toBe(true);
});

test('a judge that fails is asked again as a model is', async () => {
  await using server = await startModelServer((response, seen, number) =>
    number === 1
      ? sendJson(response, { error: { message: 'oops' } }, 500)
      : reply(response, judgeNaively(readAsked(seen))),
  );
  const { runId, values } = await judge(
    toDocument({
      provider: provider(server, { retry: { max: 1, base: '10ms' } }),
      answers: { good: 'Paris' },
    }),
  );
  expect(values).toEqual({ good: 1 });
  expect(await listStates(assay, runId)).toEqual(['failed', 'completed']);
});

test('a judge that goes on failing, or hangs, leaves its cells without a score and the run complete', async () => {
  await using server = await startModelServer((response, seen) => {
    if (readAsked(seen).blocks.get('answer') === 'fail')
      sendJson(response, { error: { message: 'oops' } }, 500);
  });
  const { verdicts, values, result } = await judge(
    toDocument({
      provider: provider(server, { retry: { max: 1, base: '10ms' } }),
      answers: { fail: 'fail', hang: 'hang' },
      rest: { limits: { modelCallTime: '300ms' } },
    }),
  );
  expect(result).toMatchObject({ state: 'completed', outcomes: { unscored: 2 } });
  expect(values).toEqual({ fail: 'judge_failed', hang: 'judge_failed' });
  expect(verdicts.get('fail')?.explanation).toContain('its call failed (');
  expect(verdicts.get('hang')?.explanation).toContain('time_out');
});

test('several judges vote, each on its own engine, and a tie is the lower verdict', async () => {
  await using kind = await startJudge(() => '{"reason": "ever so good", "verdict": "pass"}');
  await using strict = await startJudge((asked) =>
    JSON.stringify({ reason: 'by the word', verdict: isRight(asked) ? 'pass' : 'fail' }),
  );
  const document = toDocument({ provider: provider(kind), answers: { right: 'Paris', wrong: 'Lyon' } });
  const { values, verdicts } = await judge({
    ...document,
    providers: [provider(kind), strict.provider({ id: 'strict' }) as Json],
    judge: [
      { id: 'a', model: 'judge:wise' },
      { id: 'b', model: 'strict:wise' },
    ],
  });
  expect(values).toEqual({ right: 1, wrong: 0 });
  expect(verdicts.get('wrong')?.explanation).toBe('a pass, b fail: fail. by the word');
  expect([kind, strict].map((server) => server.calls().length)).toEqual([2, 2]);
});

test('FE-07 a judge reads the context of its own run, and the report shows it', async () => {
  const contexts: string[] = [];
  await using server = await startJudge((asked) => {
    contexts.push(`${asked.blocks.get('answer')} ${asked.blocks.get('context')}`);
    return judgeNaively(asked);
  });
  const [acme, other] = await Promise.all(
    ['acme', 'other'].map((tenant) =>
      judge(
        toDocument({
          provider: provider(server),
          answers: { [tenant]: tenant },
          rest: { context: { tenant } },
        }),
      ),
    ),
  );
  expect(contexts.toSorted()).toEqual(['acme {"tenant":"acme"}', 'other {"tenant":"other"}']);
  const report = summarize(await loadReportRows(assay.db, acme?.runId ?? ''));
  expect(report.run.context).toEqual({ tenant: 'acme' });
  expect(report.notes.map(({ text }) => text)).toContain('context {"tenant":"acme"}');
  expect(summarize(await loadReportRows(assay.db, other?.runId ?? '')).run.context).toEqual({
    tenant: 'other',
  });
});

test('judges are paid from the budget of the run and apart from the models; packed or not, one question a cell', async () => {
  await using server = await startJudge();
  const answers = Object.fromEntries(
    Array.from({ length: 6 }, (_, at) => [`c${at}`, at < 3 ? 'Paris' : 'Lyon']),
  );
  const price = { input: 10, output: 100 };
  const counts = await Promise.all(
    (['auto', 'off'] as const).map(async (packing) => {
      const { runId, values } = await judge({
        ...toDocument({ provider: provider(server), answers }),
        judge: { model: 'judge:wise', params: { maxOutputTokens: 100 }, price },
        execution: { packing, taskConcurrency: 1 },
        budgets: { maxRunUsd: 10 },
      });
      expect(Object.values(values)).toEqual([1, 1, 1, 0, 0, 0]);
      const report = summarize(await loadReportRows(assay.db, runId));
      const each = (JUDGE_USAGE.prompt_tokens * 10 + JUDGE_USAGE.completion_tokens * 100) / 1e6;
      expect(report.totals).toMatchObject({ costUsd: 0, calls: 6, judging: { calls: 6, inputTokens: 1200 } });
      expect(report.totals.judging?.costUsd).toBeCloseTo(6 * each, 9);
      expect(report.notes.map(({ text }) => text)).toContain(
        "judges replied 6 times for $0.024: part of the budget, and of no model's cost",
      );
      const { rows } = await assay.db.query(
        'select spent_usd::float8 as spent from reservations where run_id = $1',
        [runId],
      );
      expect(rows).toEqual([{ spent: 6 * each }]);
      return (await loadCalls(assay, runId)).length;
    }),
  );
  expect(counts).toEqual([12, 12]);
});

test('FE-09 the budget of a run bounds the questions to judges at any width, and no verdict is asked for twice', async () => {
  const answers = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`c${at}`, 'Paris']));
  const asked = [];
  for (const taskConcurrency of [1, 12]) {
    await using server = await startJudge();
    const { result, runId, cells } = await judge({
      ...toDocument({ provider: provider(server), answers }),
      judge: { model: 'judge:wise', params: { maxOutputTokens: 20 }, price: { input: 0, output: 100 } },
      execution: { taskConcurrency },
      // Each question takes all that it may: 20 tokens, 0.002 USD.
      budgets: { maxRunUsd: 0.01 },
    });
    expect(result.state).toBe('stopped_budget');
    // An answer whose verdict came as the run was stopped is not recorded any more.
    const scored = cells.filter(({ outcome }) => outcome?.kind === 'scored').length;
    expect(scored).toBeLessThanOrEqual(5);
    const questions = (await loadCalls(assay, runId)).filter(({ model_id }) => model_id.startsWith('judge:'));
    expect(new Set(questions.map(({ case_id }) => case_id)).size).toBe(questions.length);
    asked.push(server.calls().length);
  }
  expect(asked).toEqual([5, 5]);
});

test('F15 F24 a judge gets no parameter that nobody set, and time of its own when that of the attempt is used up', async () => {
  await using server = await startModelServer(async (response, seen) => {
    await sleep(1_200);
    reply(response, judgeNaively(readAsked(seen)));
  });
  const { values, result } = await judge(
    toDocument({
      provider: provider(server),
      answers: { c: 'Paris' },
      rest: { limits: { attemptTime: '1s' } },
    }),
  );
  expect(result.state).toBe('completed');
  expect(values).toEqual({ c: 1 });
  expect(Object.keys(server.calls()[0]?.body ?? {}).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'messages',
    'model',
  ]);
});

test('a run that is cancelled while judges are asked ends at once, and its cells are interrupted', async () => {
  await using server = await startModelServer(() => undefined);
  const runId = await begin(assay, toDocument({ provider: provider(server), answers: { c: 'Paris' } }));
  await waitFor('a judge that was asked', async () => server.calls().length === 1, 60_000);
  expect(await cancelAndWait(assay, runId)).toBe('CANCELLED');
  expect(await countOutcomes(assay, runId)).toEqual({ interrupted: 1 });
});

test('judges read what agents and external programs answer, beside graders in their sessions', async () => {
  await using server = await startJudge();
  const document = toDocument({ provider: provider(server), answers: { c: 'Paris' } });
  const { suite, ...rest } = document as { readonly suite: { readonly scorers: readonly Json[] } };
  const acting = { ...suite, scorers: [...suite.scorers, { kind: 'command', command: 'true' }] };
  const { values, result, cells } = await judge({
    ...rest,
    models: [script([bash('echo working'), { say: 'It is Paris.' }])],
    requests: [
      { name: 'agent', suite, harness: { kind: 'agent', maxSteps: 5 }, environment: 'host' },
      {
        name: 'program',
        suite: acting,
        harness: { kind: 'command', command: ['sh', '-c', 'echo Lyon'] },
        environment: 'host',
      },
    ],
  });
  expect(result).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
  expect(values).toEqual({ c: 0 });
  expect(
    cells.map(({ requestName, outcome }) => [requestName, outcome?.kind === 'scored' && outcome.pass]),
  ).toEqual([
    ['agent', true],
    ['program', false],
  ]);
  expect(server.calls()).toHaveLength(2);
});
