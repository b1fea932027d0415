import { expect, test } from 'vitest';
import {
  findProblems,
  findSuiteProblems,
  loadCases,
  loadFiles,
  loadYamlCases,
  runOf,
  toMessages,
  toPlaces,
} from './support.ts';

const ids = (cases: readonly { readonly testCase: { readonly id: string } }[]): readonly string[] =>
  cases.map(({ testCase }) => testCase.id);

const SCALARS = `name: scalars
version: 1.10
scorers: [exact]
cases:
  - { id: word,    input: "Raining?",  target: no }
  - { id: zeros,   input: "Number?",   target: 007 }
  - { id: version, input: "Version?",  target: 1.10 }
  - { id: date,    input: "Day?",      target: 2026-01-05 }
  - { id: zero,    input: "Left?",     target: 0 }
  - { id: boolean, input: "Even?",     target: false }
  - { id: colon,   input: "Start?",    target: 12:30 }
  - { id: shout,   input: "Sure?",     target: [True, 1e3] }
`;

test('F04 targets keep the text that was written, 0 and false are targets', async () => {
  const { suites } = await loadFiles({ 'run.yaml': runOf('s.yaml'), 's.yaml': SCALARS });
  const [suite] = [...suites.values()];
  expect(suite?.version).toBe('1.10');
  expect(suite?.cases.map(({ target }) => target?.values)).toEqual([
    ['no'],
    ['007'],
    ['1.10'],
    ['2026-01-05'],
    [0],
    [false],
    ['12:30'],
    ['True', '1e3'],
  ]);
});

test('F04 null and [] are no target, and preflight names exactly those cases', async () => {
  const more = '  - { id: nothing, input: q, target: null }\n  - { id: empty, input: q, target: [] }\n';
  const problems = await findSuiteProblems(SCALARS + more);
  expect(toMessages(problems)).toHaveLength(1);
  expect(problems[0]?.message).toContain('2 cases have none: nothing, empty.');
});

test('F04 the same scalars as JSON and as JSON Lines give the same targets', async () => {
  const lines = [
    '{"id":"a","input":"q","target":0}',
    '{"id":"b","input":"q","target":false}',
    '{"id":"c","input":"q","target":[1.10, 2]}',
  ];
  const expected = [[0], [false], ['1.10', 2]];
  const json = await loadCases({ 'run.yaml': runOf('c.json'), 'c.json': `[${lines.join(',\n')}]` });
  const jsonl = await loadCases({ 'run.yaml': runOf('c.jsonl'), 'c.jsonl': lines.join('\r\n') });
  expect(json.map(({ target }) => target?.values)).toEqual(expected);
  expect(jsonl.map(({ target }) => target?.values)).toEqual(expected);
});

test('ids, choices, tags and vars written as numbers are text', async () => {
  const [first] = await loadYamlCases(
    'prompt: "v{{version}}"\ncases:\n  - { id: 007, vars: { version: 1.10 }, choices: [no, 1.0], tags: [2026], target: x }\n',
  );
  expect(first?.testCase).toMatchObject({ id: '007', choices: ['no', '1.0'], tags: ['2026'] });
  expect(first?.testCase.input).toEqual({ kind: 'text', text: 'v1.10' });
});

const EXCEL =
  '\uFEFF"id","input","target"\r\n1,"Say ""yes"" or ""no"".",yes\r\n2,"First line\nsecond line, with a comma",two\r\n\r\n3,Café crème?,"  padded  "';

test('F01 a spreadsheet CSV with byte-order mark, CRLF, quotes and line breaks gives its three cases', async () => {
  const cases = await loadCases({ 'run.yaml': runOf('excel.csv'), 'excel.csv': EXCEL });
  expect(ids(cases)).toEqual(['1', '2', '3']);
  const texts = cases.map(({ testCase }) => (testCase.input.kind === 'text' ? testCase.input.text : ''));
  expect(texts).toEqual(['Say "yes" or "no".', 'First line\nsecond line, with a comma', 'Café crème?']);
  expect(cases[2]?.target).toEqual({ values: ['  padded  '] });
  expect(JSON.stringify(cases)).not.toMatch(/\uFEFF|\\r/);
});

test('F01 ragged rows are refused with their physical line', async () => {
  const ragged = 'id,input,target\n1,"two\nlines",a\n2,one,b,surplus\n3,"x\ny"\n';
  const problems = await findProblems({ 'run.yaml': runOf('r.csv'), 'r.csv': ragged });
  expect(toPlaces(problems)).toEqual(['r.csv:4:1 ', 'r.csv:5:1 ']);
  expect(problems[0]?.message).toContain('row 2 (line 4) has 4 cells, the header has 3');
});

test('F01 semicolons and UTF-16 are called by name', async () => {
  const semicolon = await findProblems({
    'run.yaml': runOf('s.csv'),
    's.csv': 'id;input;target\n1;What?;4\n',
  });
  expect(toMessages(semicolon).join()).toContain(
    'parted by semicolons; save the table with commas as the delimiter',
  );
  const wide = Buffer.from('\uFEFFid,input,target\r\n1,q,4\r\n', 'utf16le');
  const utf16 = await findProblems({ 'run.yaml': runOf('s.csv'), 's.csv': wide });
  expect(toMessages(utf16).join()).toContain('in the encoding UTF-16; save it with the encoding UTF-8');
});

test('F01 a cell of 300,000 characters loads', async () => {
  const long = 'x'.repeat(300_000);
  const [first] = await loadCases({ 'run.yaml': runOf('l.csv'), 'l.csv': `input,target\n${long},a\n` });
  expect(first?.testCase.input).toEqual({ kind: 'text', text: long });
});

test('text that is not UTF-8 is refused with the line of the first wrong byte', async () => {
  const latin = Buffer.from('{"input":"q","target":"a"}\n{"input":"caf\u00e9","target":"a"}\n', 'latin1');
  const problems = await findProblems({ 'run.yaml': runOf('c.jsonl'), 'c.jsonl': latin });
  expect(toMessages(problems).join()).toContain('byte 0xE9 in line 2');
});

test('CSV columns hold lists, numbers, flags, vars and metadata; unknown ones are refused', async () => {
  const csv =
    'input,target,choices,tags,weight,skip,metadata.source\nq,B,red|green,"[""x"",""y""]",0,,web\nq2,A,a|b,,2,true,\n';
  const cases = await loadCases({ 'run.yaml': runOf('c.csv'), 'c.csv': csv });
  expect(cases).toHaveLength(1);
  expect(cases[0]?.testCase).toMatchObject({
    choices: ['red', 'green'],
    tags: ['x', 'y'],
    weight: 0,
    metadata: { source: 'web' },
  });
  const problems = await findProblems({
    'run.yaml': runOf('c.csv'),
    'c.csv': 'question,target,source\nq,a,b\n',
  });
  expect(problems.map(({ suggestion }) => suggestion)).toEqual(['input', 'metadata.source', null]);
});

test('lone surrogates and U+0000 in YAML and JSON text are kept', async () => {
  const suite = 'cases: [{ input: "a \\ud800 b\\0", target: "\\ud83d\\ude80" }]\n';
  const [yaml] = await loadYamlCases(suite);
  expect(yaml?.testCase.input).toEqual({ kind: 'text', text: 'a \ud800 b\0' });
  expect(yaml?.target?.values).toEqual(['🚀']);
});

test('bad lines of JSON Lines are told with line and column, infinite numbers included', async () => {
  const lines =
    '{"input":"q","target":1}\n{"input":"q",}\n{"input":3,"target":1,"wieght":2}\n{"input":"q","weight":1e999}\n[]\n';
  const problems = await findProblems({ 'run.yaml': runOf('c.jsonl'), 'c.jsonl': lines });
  expect(toPlaces(problems)).toEqual([
    'c.jsonl:2:14 ',
    'c.jsonl:3:23 wieght',
    'c.jsonl:4:23 weight',
    'c.jsonl:5:1 ',
  ]);
});

test('YAML anchors and merge keys work in suites', async () => {
  const cases = await loadYamlCases(
    'cases:\n  - &base { id: a, input: q, target: 1, tags: [x] }\n  - { <<: *base, id: b }\n',
  );
  expect(cases.map(({ testCase }) => [testCase.id, testCase.tags])).toEqual([
    ['a', ['x']],
    ['b', ['x']],
  ]);
});

test('a list of many cases keeps its places: a duplicate far down names both lines', async () => {
  const lines = Array.from(
    { length: 5000 },
    (_, index) => `{"id":"c${index + 1}","input":"q","target":${index}}`,
  );
  const problems = await findProblems({
    'run.yaml': runOf('c.jsonl'),
    'c.jsonl': [...lines, '{"id":"c17","input":"q","target":0}'].join('\n'),
  });
  expect(toPlaces(problems)).toEqual(['c.jsonl:5001:7 id']);
  expect(problems[0]?.message).toBe('the id "c17" is already that of the case at c.jsonl:17');
});
