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

test('C8 a missing id is the position in the suite, over all files, skipped cases counted', async () => {
  const files = {
    'run.yaml': runOf('s.yaml'),
    's.yaml':
      'cases:\n  - { input: one, target: a, skip: true }\n  - ./more/*.jsonl\n  - { input: last, target: a }\n',
    'more/b.jsonl': '{"input":"b1","target":"a"}\n',
    'more/a.jsonl': '\uFEFF{"input":"a1","target":"a"}\n\n{"input":"a2","target":"a"}',
  };
  const cases = await loadCases(files);
  expect(ids(cases)).toEqual(['2', '3', '4', '5']);
  expect(cases.map(({ testCase }) => (testCase.input.kind === 'text' ? testCase.input.text : ''))).toEqual([
    'a1',
    'a2',
    'b1',
    'last',
  ]);
});

test('AC-P4 duplicate, empty and untrimmed ids are refused, duplicates with both places', async () => {
  const problems = await findProblems({
    'run.yaml': runOf('s.yaml'),
    's.yaml': 'cases: [a.jsonl, b.jsonl]\n',
    'a.jsonl': '{"id":"x","input":"q","target":1}\n',
    'b.jsonl':
      '{"id":"","input":"q","target":1}\n{"id":" y","input":"q","target":1}\n{"input":"q","id":"x","target":1}\n',
  });
  expect(toPlaces(problems)).toEqual(['b.jsonl:1:7 id', 'b.jsonl:2:7 id', 'b.jsonl:3:19 id']);
  expect(problems[2]?.message).toBe('the id "x" is already that of the case at a.jsonl:1');
});

test('AC-E7 ids with slashes, blanks, per cent signs and other scripts are kept as they are', async () => {
  const odd = ['a/b', 'a b', '50%', '日本', 'ctl\u0001', 'lone \ud800 half', 'nul\0'];
  const lines = odd.map((id) => JSON.stringify({ id, input: 'q', target: 'a' })).join('\n');
  expect(ids(await loadCases({ 'run.yaml': runOf('c.jsonl'), 'c.jsonl': lines }))).toEqual(odd);
});

test('defaults fill what a case leaves open, maps key by key', async () => {
  const [first, second] = await loadYamlCases(`
defaults: { system: short, tags: [all], metadata: { a: 1 }, limits: { attemptTime: 1m, attemptTokens: 5 }, weight: 2 }
cases:
  - { input: q, target: a }
  - { input: q, target: a, system: long, tags: [own], metadata: { b: 2 }, limits: { attemptTime: null }, weight: 0 }
`);
  expect(first?.testCase).toMatchObject({ system: 'short', tags: ['all'], metadata: { a: 1 }, weight: 2 });
  expect(second?.testCase).toMatchObject({
    system: 'long',
    tags: ['own'],
    metadata: { a: 1, b: 2 },
    weight: 0,
  });
  expect(second?.testCase.limits).toMatchObject({ attemptTimeMs: null, attemptTokens: 5 });
});

test('a prompt template takes the vars of each case; a missing one names the nearest', async () => {
  const suite = `
prompt:
  - { role: system, content: "Speak {{language}}." }
  - { role: user, content: "Greet {{ name }} {{name}}, {not} {{{}}}." }
cases:
  - { vars: { language: Dutch, name: "{{language}}" }, target: a }
`;
  const [first] = await loadYamlCases(suite);
  expect(first?.testCase.input).toEqual({
    kind: 'messages',
    messages: [
      { role: 'system', text: 'Speak Dutch.' },
      { role: 'user', text: 'Greet {{language}} {{language}}, {not} {{{}}}.' },
    ],
  });
  const problems = await findSuiteProblems(suite.replace('name: "', 'nmae: "'));
  expect(problems[0]).toMatchObject({ path: 'cases[0].vars', suggestion: 'nmae' });
  expect(toMessages(await findSuiteProblems('cases: [{ vars: { a: 1 }, target: a }]')).join()).toContain(
    'need a "prompt"',
  );
});

test('messages must end with the user; an empty input is refused', async () => {
  const problems = await findSuiteProblems(
    'cases:\n  - { input: [{ role: assistant, content: hi }], target: a }\n  - { input: "", target: a }\n',
  );
  expect(toMessages(problems)).toEqual([
    'messages must end with one of role "user", this ends with "assistant"',
    'an input cannot be empty',
  ]);
});

test('files of cases are kept by digest, from text and from disk, and must stay inside', async () => {
  const suite = 'cases: [{ input: q, target: a, files: { a.txt: hello, b/c.bin: { path: data/c.bin } } }]\n';
  const files = {
    'run.yaml': runOf('sub/s.yaml'),
    'sub/s.yaml': suite,
    'sub/data/c.bin': Buffer.from([0, 255]),
  };
  const loaded = await loadFiles(files);
  const digests = [...loaded.suites.values()][0]?.cases[0]?.testCase.files ?? {};
  expect(Object.keys(digests)).toEqual(['a.txt', 'b/c.bin']);
  expect(Buffer.from(loaded.files.get(digests['a.txt'] ?? '') ?? []).toString()).toBe('hello');
  expect([...(loaded.files.get(digests['b/c.bin'] ?? '') ?? [])]).toEqual([0, 255]);
  const bad = 'cases: [{ input: q, target: a, files: { ../x: "", /y: "", z: { path: none.txt } } }]\n';
  const messages = toMessages(await findSuiteProblems(bad));
  expect(messages.map((message) => message.replace(/"[^"]*" ?/g, ''))).toEqual([
    "must stay inside the session's directory",
    "must be relative to the session's directory",
    'the file does not exist',
  ]);
});

test('a scorer is a word or a map; its options are checked by its own schema', async () => {
  const { suites } = await loadFiles({
    'run.yaml': runOf('s.yaml'),
    's.yaml':
      'scorers: [exact, { kind: numeric, name: near, weight: 0.5, threshold: 0.9, required: false, tolerance: 0.01 }]\ncases: [{ input: q, target: 1 }]\n',
  });
  expect([...suites.values()][0]?.scorers).toMatchObject([
    { kind: 'exact', name: 'exact', weight: 1, threshold: 1, required: true },
    {
      kind: 'numeric',
      name: 'near',
      weight: 0.5,
      threshold: 0.9,
      required: false,
      options: { tolerance: 0.01 },
    },
  ]);
  const problems = await findSuiteProblems(
    'scorers: [{ kind: numeric, tolerence: 1 }, exact, exact]\ncases: [{ input: q, target: 1 }]\n',
  );
  expect(toPlaces(problems)).toEqual(['s.yaml:1:28 scorers[0].tolerence', 's.yaml:1:51 scorers[2]']);
  expect(problems[0]?.suggestion).toBe('tolerance');
});

test('files of a scorer are read and replaced by digests', async () => {
  const run = 'models: [mock:oracle]\nsuite: s.yaml\nharness: agent\nenvironment: host\n';
  const suite =
    'cases:\n  - { input: q, scorers: [{ kind: command, command: ./check.sh, files: { check.sh: check.sh } }] }\n';
  const files = { 'run.yaml': run, 's.yaml': suite, 'check.sh': 'exit 0\n' };
  const loaded = await loadFiles(files);
  const options = [...loaded.suites.values()][0]?.cases[0]?.testCase.scorers?.[0]?.options;
  const [digest] = [...loaded.files.keys()];
  expect(options).toMatchObject({ files: { 'check.sh': digest } });
  const { 'check.sh': _gone, ...without } = files;
  const problems = await findProblems(without);
  expect(toMessages(problems)).toEqual(['the file "check.sh" does not exist']);
});

test('an unmatched glob, a suite in a suite, an unknown kind of file and an empty list are problems', async () => {
  const problems = await findProblems({
    'run.yaml': runOf('s.yaml'),
    's.yaml': 'cases: ["none/*.jsonl", inner.yaml, cases.txt]\n',
    'inner.yaml': 'cases: []\n',
  });
  expect(toMessages(problems)).toEqual([
    'no file matches "none/*.jsonl"',
    '"cases.txt": cannot tell what it holds; expected .yaml, .yml, .json, .jsonl, .ndjson or .csv',
    'expected a list of cases, got a map (a suite cannot be part of another)',
  ]);
  expect(toMessages(await findSuiteProblems('cases: []'))).toEqual(['suite "s" has no cases']);
});

test('a suite without scorers uses exact and says so, unless every case has its own', async () => {
  const load = (cases: string) => loadFiles({ 'run.yaml': runOf('s.yaml'), 's.yaml': `cases: [${cases}]\n` });
  const own = '{ input: q, target: a, scorers: [includes] }';
  expect((await load(own)).warnings).toEqual([]);
  const mixed = await load(`${own}, { input: q, target: a }`);
  expect(mixed.warnings).toEqual(['suite "s" names no scorers: "exact" is used']);
  expect([...mixed.suites.values()][0]?.scorers.map(({ kind }) => kind)).toEqual(['exact']);
});
