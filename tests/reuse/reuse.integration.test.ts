import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeCase } from '../../src/cli/show-case.ts';
import type { Json } from '../../src/domain/json.ts';
import { formatCsv } from '../../src/reports/csv.ts';
import { formatJunit } from '../../src/reports/junit.ts';
import { formatMarkdown } from '../../src/reports/markdown.ts';
import { reportSchema } from '../../src/reports/report-schema.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { createTestAssay, createTestRunId, type TestAssay } from '../support/assay.ts';
import { answerSum, sendJson, startModelServer } from '../workflows/model-server.ts';
import { begin, countOutcomes, loadCells, loadState, startPlain, sums } from '../workflows/support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

type Changes = { readonly [key: string]: Json };

async function startSums(): Promise<{
  readonly server: Awaited<ReturnType<typeof startModelServer>>;
  readonly document: (changes?: Changes, model?: Changes) => Json;
  readonly calls: () => number;
}> {
  let calls = 0;
  const server = await startModelServer((response, seen) => {
    calls += 1;
    sendJson(response, answerSum(seen));
  });
  const model = { id: 'one', provider: 'local', model: 'm', price: { input: 1, output: 2 } };
  const document = (changes: Changes = {}, more: Changes = {}): Json => ({
    providers: [server.provider()],
    models: [{ ...model, ...more }],
    suite: sums(3),
    ...changes,
  });
  return { server, document, calls: () => calls };
}

async function reuse(document: Json, runId: string, allowMismatch = false): Promise<string> {
  const own = createTestRunId();
  await assay.start(document, { runId: own, reuse: { runId, allowMismatch } });
  await assay.result(own).catch(() => undefined);
  return own;
}

const report = async (runId: string) => summarize(await loadReportRows(assay.db, runId));

test('AC-P6 AC-K6 AF-21 a run that matches another takes all of its cells: no call, no cost, same scores, in order', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const first = await begin(assay, document({ attempts: { k: 2 } }));
  await assay.result(first);
  expect(calls()).toBe(6);
  const again = await reuse(document({ attempts: { k: 2 }, execution: { taskConcurrency: 3 } }), first);
  expect(calls()).toBe(6);
  expect(await loadState(assay, again)).toMatchObject({ state: 'completed' });
  const [before, after] = [await report(first), await report(again)];
  expect(after.totals).toMatchObject({ costUsd: 0, calls: 0 });
  expect(after.boards[0]?.rows[0]?.figures.mean).toEqual(before.boards[0]?.rows[0]?.figures.mean);
  expect(after.boards[0]?.rows[0]?.attemptCostUsd).toBe(before.boards[0]?.rows[0]?.attemptCostUsd);
  expect(after.boards[0]?.rows[0]?.figures.latency).toEqual(before.boards[0]?.rows[0]?.figures.latency);
  expect(after.run.reuse).toMatchObject({ runId: first, taken: 6, graded: 0, refused: 0, mismatched: 0 });
  const rows = await loadReportRows(assay.db, again);
  expect(rows.cells.map(({ caseId, attempt }) => `${caseId}/${attempt}`)).toEqual(
    ['sum-1', 'sum-2', 'sum-3'].flatMap((id) => [`${id}/1`, `${id}/2`]),
  );
  expect(rows.cells.map(({ origin }) => origin?.runId)).toEqual(Array(6).fill(first));
  expect(formatCsv(rows).split('\r\n')[1]).toContain(first);
  const shown = await describeCase(
    assay.db,
    { word: again, caseId: 'sum-2', choice: { attempt: 1 } },
    { json: false },
  );
  expect(shown.text).toContain(
    `Its answer was taken from run ${first}, attempt 1; its calls were paid there.`,
  );
  // Taken from a run that took them: the cell where the agent ran is named.
  const third = await reuse(document({ attempts: { k: 2 } }), again);
  const [cell] = (await loadReportRows(assay.db, third)).cells;
  expect(cell?.origin).toMatchObject({ runId: first, task: 1, attempt: 1 });
});

test('C7 AC-K9 C19 a larger k and more cases run what is missing alone, each attempt an answer of its own', async () => {
  let answers = 0;
  await using server = await startModelServer((response) => {
    answers += 1;
    const message = { role: 'assistant', content: String(answers) };
    sendJson(response, { choices: [{ message, finish_reason: 'stop' }], usage: {} });
  });
  const document = (k: number, cases: number): Json => ({
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm', params: { temperature: 1 } }],
    suite: sums(cases),
    attempts: { k },
  });
  const first = await begin(assay, document(3, 2));
  await assay.result(first);
  expect(answers).toBe(6);
  const again = await reuse(document(5, 3), first);
  // Two more attempts of two cases, and five of the new one.
  expect(answers).toBe(6 + 4 + 5);
  const texts = (await loadCells(assay, again)).map((cell) => cell.answer_preview);
  expect(new Set(texts).size).toBe(15);
  const before = (await loadCells(assay, first)).map((cell) => cell.answer_preview);
  expect(texts.filter((text) => before.includes(text))).toHaveLength(6);
});

test('AC-K9 AC-K8 under `pass` a task that was solved needs no more, and one that was not goes on', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const wrong = {
    suite: { ...sums(2), cases: [...sums(2).cases, { id: 'odd', input: '1 + 1?', target: 'no' }] },
  };
  const first = await begin(assay, document({ ...wrong, attempts: { k: 2, strategy: 'pass' } }));
  await assay.result(first);
  expect(calls()).toBe(4);
  const again = await reuse(document({ ...wrong, attempts: { k: 4, strategy: 'pass' } }), first);
  expect(calls()).toBe(6);
  expect(await countOutcomes(assay, again)).toEqual({ scored: 6 });
  const figures = (await report(again)).boards[0]?.rows[0]?.figures;
  expect(figures?.passAtK).toMatchObject({ k: 4, value: 2 / 3, cases: 3 });
});

test('AC-K6 AC-K11 AF-20 where nothing matches the run is refused: fields by name, nothing sent', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const first = await begin(assay, document());
  await assay.result(first);
  const changed: readonly (readonly [Json, string])[] = [
    [document({}, { params: { temperature: 0.5 } }), 'model.params.temperature: absent -> 0.5 (3 cells)'],
    [document({}, { model: 'other' }), 'model.model: "m" -> "other" (3 cells)'],
    [document({ context: { tenant: 'a' } }), 'context.tenant: absent -> "a" (3 cells)'],
    [document({ suite: sums(3, { system: 'Be short.' }) }), 'case.system: null -> "Be short." (3 cells)'],
    [
      document({ harness: { kind: 'agent', tools: ['bash'] }, environment: 'host' }),
      'harness.kind: "direct" -> "agent" (3 cells)',
    ],
  ];
  for (const [other, line] of changed) {
    const refused = await reuse(other, first);
    const { state, reason } = await loadState(assay, refused);
    expect(state).toBe('failed');
    expect(reason).toContain(line);
    expect(reason).toContain('--allow-mismatch');
  }
  expect(calls()).toBe(3);
});

test('AF-20 AC-K6 a mismatch that is allowed is taken by names, and every format of the report says so', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const first = await begin(assay, document());
  await assay.result(first);
  const forced = await reuse(document({}, { params: { temperature: 0.5 } }), first, true);
  expect(calls()).toBe(3);
  const rows = await loadReportRows(assay.db, forced);
  const said = summarize(rows);
  expect(reportSchema.parse(said).run.reuse).toMatchObject({ allowMismatch: true, mismatched: 3 });
  const words = 'model.params.temperature: absent -&gt; 0.5';
  const texts = [formatMarkdown(said), formatJunit(rows, said), formatCsv(rows)];
  expect(said.notes.map(({ code }) => code)).toEqual(['mismatch', 'reuse']);
  expect(texts[0]).toContain('mismatch allowed: 3 cells');
  expect(texts[1]).toContain(words);
  expect(texts[2]?.split('\r\n')[1]).toContain(`${first},true`);
});

test('C7 what differs in one model alone runs again, and the report names the field', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const two = (temperature: number): Changes => ({
    models: ['a', 'b'].map((id) => ({
      id,
      provider: 'local',
      model: 'm',
      params: id === 'b' ? { temperature } : {},
    })),
  });
  const first = await begin(assay, document(two(0)));
  await assay.result(first);
  const again = await reuse(document(two(1)), first);
  expect(calls()).toBe(6 + 3);
  const { reuse: facts } = (await report(again)).run;
  expect(facts).toMatchObject({ taken: 3, refused: 3, mismatched: 0 });
  expect(facts?.differences).toEqual([
    { field: 'model.params.temperature', before: '0', after: '1', cells: 3 },
  ]);
});

test('C7 a changed scorer or target grades the answers again and runs nothing', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const first = await begin(assay, document({ suite: { ...sums(3), scorers: ['includes'] } }));
  await assay.result(first);
  const suite = { ...sums(3), scorers: ['exact'] };
  const cases = suite.cases.map((one) => (one.id === 'sum-2' ? { ...one, target: 'another' } : one));
  const again = await reuse(document({ suite: { ...suite, cases } }), first);
  expect(calls()).toBe(3);
  expect(await loadState(assay, again)).toMatchObject({ state: 'completed' });
  expect((await report(again)).run.reuse).toMatchObject({ taken: 0, graded: 3 });
  expect((await loadCells(assay, again)).map(({ score }) => score)).toEqual([1, 0, 1]);
  const rows = await loadReportRows(assay.db, again);
  expect(rows.cells.map(({ scores }) => scores.map(({ kind }) => kind))).toEqual(Array(3).fill(['exact']));
});

test('AC-K10 AC-P5 of a run that goes on the recorded cells are taken; started by a plain Temporal client', async () => {
  let held = true;
  let calls = 0;
  const waiting: (() => void)[] = [];
  await using server = await startModelServer(async (response, seen) => {
    calls += 1;
    if (held && calls > 2) await new Promise<void>((go) => waiting.push(go));
    sendJson(response, answerSum(seen));
  });
  const document: Json = {
    providers: [server.provider()],
    models: [{ id: 'one', provider: 'local', model: 'm' }],
    suite: sums(3),
    execution: { taskConcurrency: 1 },
  };
  const first = await begin(assay, document);
  await expect.poll(() => waiting.length, { timeout: 30_000 }).toBe(1);
  held = false;
  const again = createTestRunId();
  await startPlain(assay, again, { document, reuse: { runId: first } });
  await assay.result(again);
  expect((await report(again)).run.reuse).toMatchObject({ scored: 2, taken: 2, refused: 0 });
  expect(calls).toBe(4);
  waiting.forEach((go) => go());
  await assay.result(first);
  // The id of a run that is there is attached to: its rows stay.
  const before = await loadCells(assay, again);
  await assay.start(document, { runId: again });
  expect(await loadCells(assay, again)).toEqual(before);
});

test('AC-P1 a run that names a run that is not there keeps its record with the reason, and has sent nothing', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const refused = await reuse(document(), 'nobody');
  expect(await loadState(assay, refused)).toEqual({
    state: 'failed',
    reason: expect.stringContaining('there is no run "nobody"') as string,
  });
  expect(calls()).toBe(0);
});

test('AF-20 an answer that was taken although it differs is never taken on as one that matches', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const warm = document({}, { params: { temperature: 0.5 } });
  const first = await begin(assay, document());
  await assay.result(first);
  const forced = await reuse(warm, first, true);
  const refused = await reuse(warm, forced);
  expect((await loadState(assay, refused)).reason).toContain(
    'model.params.temperature: absent -> 0.5 (3 cells)',
  );
  const again = await reuse(warm, forced, true);
  expect((await report(again)).run.reuse).toMatchObject({ taken: 3, mismatched: 3 });
  // Of a run that asks as the first one did it is the answer.
  const back = await reuse(document(), again);
  expect((await report(back)).run.reuse).toMatchObject({ taken: 3, mismatched: 0, refused: 0 });
  expect(calls()).toBe(3);
});

test('AC-K11 a refusal shows what differs in the cases of several requests that share a setup', async () => {
  const { server, document, calls } = await startSums();
  await using _server = server;
  const requests = (system: string): Changes => ({
    requests: ['z', 'a'].map((id) => ({
      name: `request-${id}`,
      suite: { name: id, scorers: ['exact'], cases: [{ id, input: 'What is 1 + 1?', target: '2', system }] },
    })),
  });
  const { suite: _suite, ...rest } = document() as { readonly [key: string]: Json };
  const first = await begin(assay, { ...rest, ...requests('Be short.') });
  await assay.result(first);
  const refused = await reuse({ ...rest, ...requests('Be long.') }, first);
  expect((await loadState(assay, refused)).reason).toContain(
    'case.system: "Be short." -> "Be long." (2 cells)',
  );
  expect(calls()).toBe(2);
});
