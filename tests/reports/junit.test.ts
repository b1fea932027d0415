import { readFileSync } from 'node:fs';
import { XmlDocument, XsdValidator } from 'libxml2-wasm';
import { expect, test } from 'vitest';
import type { ReportRows } from '../../src/domain/report-rows.ts';
import { formatJunit } from '../../src/reports/junit.ts';
import { summarize } from '../../src/reports/summarize.ts';
import { toXmlAttribute, toXmlText } from '../../src/reports/xml-text.ts';
import { buildCrowdedRun } from './crowded-run.ts';
import { readXml } from './read-xml.ts';
import { buildCells, buildModel, buildRows, ended, scored } from './support.ts';

const SCHEMA = new URL('../fixtures/reports/junit.xsd', import.meta.url);

const read = (rows: ReportRows) => readXml(formatJunit(rows, summarize(rows)));

test('a run with everything at once is one test for each cell, and the sums hold', async () => {
  const rows = buildCrowdedRun();
  const root = read(rows);
  const suites = root.children.filter(({ attributes }) => attributes['name'] !== 'gates');
  expect(
    suites.map(({ attributes: { name, tests, failures, errors, skipped } }) => [
      name,
      tests,
      failures,
      errors,
      skipped,
    ]),
  ).toEqual([
    ['tickets / openai:gpt-5-mini', '24', '2', '0', '0'],
    ['tickets / anthropic:claude-with-a-very-long-name-2025-10-01', '24', '4', '3', '0'],
    ['tickets / twin', '24', '2', '0', '0'],
    ['tickets / weak', '24', '20', '2', '0'],
    ['tickets / local:qwen', '24', '10', '4', '0'],
    ['tickets / brittle', '24', '0', '6', '0'],
    ['tickets / stopped', '24', '0', '0', '18'],
    ['tickets / ghost', '24', '0', '0', '24'],
  ]);
  expect(root.attributes).not.toHaveProperty('skipped');
  for (const key of ['tests', 'failures', 'errors']) {
    const sum = root.children.reduce((total, { attributes }) => total + Number(attributes[key]), 0);
    expect(root.attributes[key]).toBe(String(sum));
  }
  const [first] = suites[0]!.children.filter(({ children }) => children.length > 0);
  expect(first?.children[0]).toMatchObject({
    name: 'failure',
    attributes: { type: 'exact', message: 'exact: expected "42", got "41"' },
  });
  expect(suites[0]!.children.map(({ attributes }) => attributes['name']).slice(0, 2)).toEqual([
    'ticket-1',
    'ticket-1 [attempt 2]',
  ]);
});

test('the file is what the schema of JUnit files asks for, with every awkward text', () => {
  const hostile = '\u0000 ]]> & <b> " \ud800 \u{1F680}';
  const awkward = buildRows({
    run: {
      name: hostile,
      reuse: {
        runId: hostile,
        allowMismatch: true,
        scored: 3,
        taken: 2,
        graded: 1,
        mismatched: 1,
        refused: 0,
        differences: [],
      },
    },
    models: [buildModel(hostile)],
    request: { name: hostile },
    cells: buildCells({
      modelId: hostile,
      outcomes: {
        [hostile]: [ended('error', hostile, hostile), scored(0)],
        b: [ended('not_run', 'budget', hostile)],
      },
    }),
  });
  using schema = XmlDocument.fromString(readFileSync(SCHEMA, 'utf8'));
  using validator = XsdValidator.fromDoc(schema);
  const empty = buildRows({ models: [buildModel('m')], cells: [] });
  for (const rows of [buildCrowdedRun(), awkward, empty]) {
    using file = XmlDocument.fromString(formatJunit(rows, summarize(rows)));
    expect(() => validator.validate(file)).not.toThrow();
  }
  using wrong = XmlDocument.fromString('<testsuites skipped="1"/>');
  expect(() => validator.validate(wrong)).toThrow('skipped');
});

test('C20 gates that were not met fail in the file as they do in the report and the exit code', () => {
  const gates = {
    minCoverage: null,
    minPassRate: 0.9,
    minMean: 0.6,
    maxUnscoredRate: null,
    requireModels: false,
  };
  const rows = buildRows({
    run: { gates },
    models: [buildModel('m')],
    cells: buildCells({
      modelId: 'm',
      outcomes: { a: [scored(0.9, true)], b: [scored(0.9, true)], c: [scored(0.2, false)] },
    }),
  });
  const root = read(rows);
  expect(summarize(rows).gateFailures.map(({ gate }) => gate)).toEqual(['minPassRate']);
  expect(root.children.map(({ attributes: { name, failures } }) => [name, failures])).toEqual([
    ['tickets / m', '1'],
    ['gates', '1'],
  ]);
  expect(root.children[1]?.children[0]?.attributes['name']).toBe('minPassRate: tickets / m');
});

test('what XML cannot hold is written as an escape, all else comes back as it was', () => {
  const awkward = `a & b < c > d " e ' ]]> \t\n\r 😀 ​`;
  const xml = `<?xml version="1.0" encoding="UTF-8"?>\n<a b=${toXmlAttribute(awkward)}>${toXmlText(awkward)}</a>`;
  expect(readXml(xml)).toMatchObject({ attributes: { b: awkward }, text: awkward });
  expect(toXmlText('\u0000\u001b[31m\ud800\uffff')).toBe(String.raw`\u0000\u001b[31m\ud800\uffff`);
});

test('an empty run is a file without tests', () => {
  const root = read(buildRows({ models: [buildModel('m')], cells: [] }));
  expect(root).toMatchObject({ name: 'testsuites', attributes: { tests: '0' }, children: [] });
});
