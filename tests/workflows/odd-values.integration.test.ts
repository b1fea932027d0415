import { afterAll, beforeAll, expect, test } from 'vitest';
import { summarize } from '../../src/reports/summarize.ts';
import { loadReportRows } from '../../src/store/report-rows.ts';
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
