import { expect, test } from 'vitest';
import { loadRun } from '../../src/config/load.ts';
import { ConfigError } from '../../src/config/problem.ts';
import { CATALOG } from './catalog.ts';
import { findProblems, loadFiles, runOf, toMessages, toPlaces } from './support.ts';

async function loadMistakes(): Promise<ConfigError> {
  const path = 'tests/fixtures/config/ten-mistakes.yaml';
  const error: unknown = await loadRun({ source: { kind: 'file', path }, catalog: CATALOG }).catch(
    (reason: unknown) => reason,
  );
  if (error instanceof ConfigError) return error;
  throw new Error('the file was accepted');
}

test('every mistake of a run file and its suite is reported in one pass, each with line and column', async () => {
  const { problems } = await loadMistakes();
  const places = toPlaces(problems).map((place) => place.replace('tests/fixtures/config/', ''));
  expect(places).toEqual([
    'ten-mistakes.yaml:5:15 models[1].provider',
    'ten-mistakes.yaml:10:14 providers[0].baseUrl',
    'ten-mistakes.yaml:11:13 providers[0].apiKey',
    'ten-mistakes.yaml:13:5 requests[0].environment',
    'ten-mistakes.yaml:15:5 requests[0].modles',
    'ten-mistakes.yaml:16:43 requests[0].harness.tools[1]',
    'ten-mistakes.yaml:17:30 requests[0].limits.attemptTokens',
    'ten-mistakes.yaml:19:12 requests[1].suite',
    'ten-mistakes.yaml:20:14 requests[1].models[0]',
    'ten-mistakes.yaml:21:20 requests[1].attempts.k',
    'ten-mistakes.yaml:22:31 execution.taskConcurrency',
    'ten-mistakes.yaml:22:44 execution.timeout',
    'ten-mistakes.yaml:23:1 budget',
    'ten-mistakes.suite.yaml:2:26 scorers[1].kind',
    'ten-mistakes.suite.yaml:5:11 cases[1].id',
    'ten-mistakes.suite.yaml:6:5 cases[2]',
    'ten-mistakes.suite.yaml:6:14 cases[2].question',
    'ten-mistakes.suite.yaml:7:35 cases[3].target',
  ]);
});

test('a mistyped name comes with the nearest known one', async () => {
  const { problems } = await loadMistakes();
  const suggestions = Object.fromEntries(problems.map(({ path, suggestion }) => [path, suggestion]));
  expect(suggestions).toMatchObject({
    'models[1].provider': 'mock',
    'requests[0].modles': 'models',
    'requests[0].harness.tools[1]': 'read_file',
    'requests[1].suite': 'ten-mistakes.suite.yaml',
    'requests[1].models[0]': 'mock:oracle',
    budget: 'budgets',
    'scorers[1].kind': 'numeric',
    'cases[2].question': 'input',
  });
});

test('a problem is printed with its line and a caret below the place', async () => {
  const { message } = await loadMistakes();
  expect(message).toContain(
    [
      'tests/fixtures/config/ten-mistakes.yaml:21:20  requests[1].attempts.k',
      '  expected a number, got text "three"',
      '  21 |     attempts: { k: three }',
      '     |                    ^',
    ].join('\n'),
  );
});

test('a literal key is refused and printed nowhere', async () => {
  const { message, problems } = await loadMistakes();
  expect(message).toContain('name that variable with apiKeyEnv');
  expect(message).not.toContain('0123456789abcdef');
  expect(JSON.stringify(problems)).not.toContain('0123456789abcdef');
});

test.each([
  ['a parameter', 'models: [{ provider: mock, model: fixed, params: { api_key: abcdefgh } }]\nsuite: s.csv'],
  ['a header', `${runOf('s.csv')}context: { headers: { Authorization: "Basic Zm9vOmJhcg==" } }`],
  ['a text in a list', `${runOf('s.csv')}context: { notes: [one, "sk-proj-0123456789abcdefghij"] }`],
  ['a bearer text', `${runOf('s.csv')}context: { h: "Bearer abcdefghijklmnopqrstuv" }`],
  [
    'a password in an address',
    `providers: [{ id: p, kind: openai-compatible, baseUrl: "http://me:hunter22@host/v1" }]\n${runOf('s.csv')}`,
  ],
  [
    'a suite in place',
    'models: [mock:oracle]\nsuite: { cases: [{ input: AKIAABCDEFGHIJKLMNOP, target: x }] }',
  ],
])('a literal key in %s is found', async (_where, run) => {
  const problems = await findProblems({ 'run.yaml': run, 's.csv': 'input,target\nq,a\n' });
  expect(toMessages(problems).join('\n')).toContain('may not hold a literal key');
});

test('words such as maxOutputTokens and answer_key are no keys, nor is a password in a case', async () => {
  const run = [
    'models: [{ provider: mock, model: fixed, params: { text: x, maxOutputTokens: 5 } }]',
    'suite: { cases: [{ input: q, target: a, metadata: { password: swordfish } }] }',
    'context: { answer_key: 3, tokens: many }',
  ].join('\n');
  expect(await findProblems({ 'run.yaml': run })).toEqual([]);
});

test('broken YAML and broken JSON are told with line and column, without a stack', async () => {
  const yaml = await findProblems({ 'run.yaml': 'models: [mock:oracle\nsuite: x.yaml\n' });
  expect(yaml[0]?.line).toBe(2);
  expect(yaml[0]?.message).toMatch(/^not valid YAML/);
  const json = await findProblems({ 'run.json': '{\n "models": ["mock:oracle",],\n}' }, { run: 'run.json' });
  expect(json[0]).toMatchObject({ line: 2 });
  expect(json[0]?.message).toMatch(/^not valid JSON/);
});

test.each([
  ['sk-abcdefghijklmnop123456', 'no name at all'],
  ['3f1b9a7c55e84c1db3a9e1a2b3c4d5e6', 'digits first'],
  ['f1b9a7c55e84c1db3a9e1a2b3c4d5e6', 'a name by its form'],
  [`a-${'long0key'.repeat(20)}`, 'longer than what a message shows'],
])('a key in the place of apiKeyEnv is refused once and printed nowhere: %s (%s)', async (key) => {
  const error: unknown = await loadFiles({
    'run.yaml': `providers: [{ id: p, kind: openai-compatible, baseUrl: "http://h", apiKeyEnv: ${key} }]\n${runOf('s.csv')}`,
    's.csv': 'input,target\nq,a\n',
  }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ConfigError);
  const { message, problems } = error as ConfigError;
  expect(toPlaces(problems)).toEqual(['run.yaml:1:79 providers[0].apiKeyEnv']);
  expect(message + JSON.stringify(problems)).not.toContain(key.slice(0, 20));
});

test.each(['NaN', 'Infinity'])('JSON with %s says what to write', async (word) => {
  const json = await findProblems({ 'run.json': `{ "context": { "a": ${word} } }` }, { run: 'run.json' });
  expect(json[0]).toMatchObject({ line: 1 });
  expect(json[0]?.message).toMatch(new RegExp(`^not valid JSON: .+JSON has no ${word}: write null`));
});

test('a key that stands twice is a problem in YAML and in JSON', async () => {
  const yaml = await findProblems({ 'run.yaml': 'name: a\nname: b\nmodels: [mock:oracle]\n' });
  expect(yaml[0]).toMatchObject({ line: 2, column: 1 });
  const json = await findProblems({ 'run.json': '{"name": "a",\n "name": "b"}' }, { run: 'run.json' });
  expect(json[0]).toMatchObject({ line: 2 });
});

test('a run file that is missing, a folder, or of an unknown kind is one sentence', async () => {
  const missing = await findProblems({ 'run.yml': '' }, { run: 'run.yaml' });
  expect(missing[0]).toMatchObject({ suggestion: 'run.yml', line: null });
  expect(toMessages(await findProblems({ 'run.yaml/x': '' }))[0]).toContain('is a folder');
  const [folder] = await findProblems({ 'evals/run.yaml': 'models: []\n' }, { run: 'evals' });
  expect(folder?.suggestion).toMatch(/evals\/run\.yaml$/);
  expect(toMessages(await findProblems({ 'run.ts': '' }, { run: 'run.ts' }))[0]).toContain('expected .yaml');
  expect(toMessages(await findProblems({ 'run.yaml': '- a\n' }))[0]).toContain('got a list of 1');
  expect(toMessages(await findProblems({ 'run.yaml': '' }))[0]).toContain('nothing stands in it');
  const suite = 'name: s\nversion: "1"\nscorers: [exact]\ncases: [{ id: a, input: q, target: t }]\n';
  expect(toMessages(await findProblems({ 'run.yaml': suite }))).toEqual([
    expect.stringContaining('this is a suite ("cases"), not a run file'),
  ]);
});

test('an alias bomb and a deep nest end in a message', async () => {
  const levels = Array.from({ length: 9 }, (_, level) => {
    const items = Array.from({ length: 10 }, () => `*a${level}`).join(', ');
    return `  a${level + 1}: &a${level + 1} [${items}]`;
  });
  const bomb = `context:\n  a0: &a0 [x]\n${levels.join('\n')}\n`;
  expect(toMessages(await findProblems({ 'run.yaml': bomb })).join()).toContain('too deeply');
  const deep = `context: ${'['.repeat(300)}${']'.repeat(300)}\n`;
  expect(toMessages(await findProblems({ 'run.yaml': deep })).join()).toContain('too deeply');
});
