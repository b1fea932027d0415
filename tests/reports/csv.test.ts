import { parse } from 'csv-parse/sync';
import { expect, test } from 'vitest';
import type { ReportRows } from '../../src/domain/report-rows.ts';
import { formatCsv } from '../../src/reports/csv.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import { buildCell, buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const read = (rows: ReportRows): { [column: string]: string }[] =>
  parse(formatCsv(rows), { columns: true, relax_column_count: false });

const rowsOf = (texts: readonly string[]): ReportRows =>
  buildRows({
    models: [buildModel('m')],
    cells: texts.map((text, index) => buildCell({ modelId: 'm', caseId: `c${index}`, answerPreview: text })),
  });

test('every cell of a crowded run is a line that another reader reads, and what is not known is empty', () => {
  const rows = buildCrowdedRun();
  const lines = read(rows);
  expect(lines).toHaveLength(rows.cells.length);
  expect(lines[0]).toMatchObject({
    request: 'tickets',
    model: 'openai:gpt-5-mini',
    case: 'ticket-1',
    outcome: 'scored',
    score: '1',
    pass: 'true',
    'score:exact': '1',
    costUsd: '0.002',
  });
  const qwen = lines.filter(({ model }) => model === 'local:qwen');
  const answered = qwen.filter(({ outcome }) => outcome === 'scored');
  expect(new Set(answered.map(({ costUsd }) => costUsd))).toEqual(new Set(['']));
  expect(qwen[0]).toMatchObject({ outcome: 'infra', score: '', pass: '', reason: 'connection' });
});

test('text that a spreadsheet would run is neutralised, numbers stay numbers', () => {
  const texts = ['=1+1', '@SUM(1,1)', '-5', '+1.5', '-2+3', '\t+CMD', '\r=x', 'a=b', '- item'];
  expect(read(rowsOf(texts)).map(({ answer }) => answer)).toEqual([
    "'=1+1",
    "'@SUM(1,1)",
    '-5',
    '+1.5',
    "'-2+3",
    "'\t+CMD",
    "'\r=x",
    'a=b',
    "'- item",
  ]);
});

test('quotes, commas and line breaks stay inside their cell', () => {
  const texts = ['line one\nline "two", three', '"', ',', 'a\r\nb', '\ud800', ''];
  expect(read(rowsOf(texts)).map(({ answer }) => answer)).toEqual([...texts.slice(0, 4), '\ufffd', '']);
});

test('keys in messages and answers are hidden', () => {
  const secret = `sk-${'a1B2'.repeat(12)}`;
  const cells = [
    ...buildCells({ modelId: 'm', outcomes: { a: [ended('error', 'auth', `bad key ${secret}`)] } }),
    buildCell({ modelId: 'm', caseId: 'b', outcome: scored(1), answerPreview: secret }),
  ];
  expect(formatCsv(buildRows({ models: [buildModel('m')], cells }))).not.toContain(secret);
});
