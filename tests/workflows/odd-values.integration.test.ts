import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
import { loadRows } from '../../src/client/report.ts';
import { formatCsv } from '../../src/reports/csv.ts';
import { formatJson } from '../../src/reports/json.ts';
import { formatJunit } from '../../src/reports/junit.ts';
import { readXml } from '../reports/read-xml.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { startModelServer } from './model-server.ts';
import { begin, listOpenWorkflows, oracle } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const LONG = 'long'.repeat(500);
const IDS = [
  'a/b',
  'a b',
  '50%',
  'a%2Fb',
  'ünï·日本',
  'Case',
  'case',
  'constructor',
  '__proto__',
  '..',
  '-x',
  'last',
  'nul\0',
  'half \ud800',
  'a"b',
  'line\nbreak',
  LONG,
  `${LONG}2`,
];

test.each(['auto', 'off'])(
  'odd ids and texts go through a run to its report unchanged, packing %s',
  async (packing) => {
    const runId = await begin(assay, {
      models: [
        oracle(),
        { id: 'answers', provider: 'mock', model: 'answers', params: { answers: { case: 'x' } } },
      ],
      suite: {
        name: 'odd/suite %',
        scorers: ['exact'],
        cases: IDS.map((id) => ({ id, input: `say \0 and \udfff ${id}`, target: `t\0\ud800 ${id}` })),
      },
      execution: { packing },
    });
    expect(await assay.result(runId)).toMatchObject({ state: 'completed', missing: [] });
    await expect.poll(() => listOpenWorkflows(assay, runId), { timeout: 20_000 }).toEqual([]);
    const rows = await loadReportRows(assay.db, runId);
    const right = rows.cells.filter((cell) => cell.modelId === 'right');
    expect(right.map((cell) => cell.caseId).toSorted()).toEqual(IDS.toSorted());
    expect(right.every((cell) => cell.outcome?.kind === 'scored' && cell.outcome.pass)).toBe(true);
    const others = rows.cells.filter((cell) => cell.modelId === 'answers');
    expect(others.map((cell) => cell.outcome?.kind)).toEqual(Array(IDS.length).fill('scored'));
    expect(JSON.stringify(summarize(rows)).isWellFormed()).toBe(true);
  },
);

test('F11 bytes that are no text, half characters and an empty answer are answers', async () => {
  const bodies: { readonly [model: string]: Buffer } = {
    bytes: Buffer.concat([Buffer.from('a\\u0000b\\ud83d '), Buffer.from([0xff, 0xfe])]),
    empty: Buffer.from(''),
  };
  await using server = await startModelServer((response, seen) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"');
    response.write(bodies[String(seen.body['model'])] ?? '');
    response.end('"}}]}');
  });
  const runId = await begin(assay, {
    providers: [server.provider()],
    models: Object.keys(bodies).map((id) => ({ id, provider: 'local', model: id })),
    suite: { name: 's', scorers: ['exact'], cases: [{ id: 'one', input: 'q', target: 'a' }] },
  });
  expect(await assay.result(runId)).toMatchObject({ state: 'completed', outcomes: { scored: 2 } });
  const { cells } = await loadReportRows(assay.db, runId);
  expect(cells.map((cell) => cell.answerPreview)).toEqual(['a\0b\ud83d \ufffd\ufffd', '']);
});

test('F35 reports of awkward ids and answers are read by other programs as they were written', async () => {
  const lines = readFileSync('tests/fixtures/reports/awkward.jsonl', 'utf8').trim().split('\n');
  const cases = lines.map((line) => JSON.parse(line) as { id: string; target: string });
  const wrong = new Map([
    [0, '=2+2'],
    [3, 'no ]]> & <b>\u0002'],
  ]);
  const answers = Object.fromEntries(
    cases.map(({ id, target }, index) => [id, wrong.get(index) ?? target] as const),
  );
  const runId = await assay.start({
    name: 'awkward',
    models: [{ id: 'm', provider: 'mock', model: 'answers', params: { answers } }],
    suite: {
      name: 'awkward',
      scorers: [{ kind: 'exact', trim: false }],
      cases: resolve('tests/fixtures/reports/awkward.jsonl'),
    },
  });
  await assay.result(runId);
  const rows = await loadRows(assay.connection, runId);
  const report = summarize(rows);

  const { children } = readXml(formatJunit(rows, report));
  const tests = children[0]?.children ?? [];
  expect(tests.map(({ attributes }) => attributes['name'])).toEqual([
    String.raw`ctl\u0001 & <b>`,
    String.raw`fffe\ufffe 🚀`,
    String.raw`lone \ud800 half`,
    'cdata ]]> end',
    'tab',
  ]);
  expect(tests.map((one) => one.children[0]?.name ?? 'passed')).toEqual([
    'failure',
    'passed',
    'passed',
    'failure',
    'passed',
  ]);
  expect(tests[3]?.children[0]?.text).toContain(String.raw`got "no ]]> & <b>\u0002"`);

  const table = parse(formatCsv(rows), { columns: false }) as string[][];
  expect(table).toHaveLength(6);
  const column = (name: string) => table.slice(1).map((line) => line[table[0]!.indexOf(name)]);
  expect(column('answer')).toEqual(["'=2+2", "'@SUM(1,1)", '-5', 'no ]]> & <b>\u0002', "'\t+CMD"]);
  expect(column('message')[3]).toContain('line one');

  const read = JSON.parse(formatJson(report)) as typeof report;
  expect(read.failures.flatMap(({ examples }) => examples.map(({ caseId }) => caseId))).toEqual([
    cases[0]?.id,
    cases[3]?.id,
  ]);
  expect(read.failures[0]?.answerPreview).toBe('=2+2');
});
