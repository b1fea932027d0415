import { expect, test } from 'vitest';
import { commandPresetSchema } from '../../src/config/command-schema.ts';
import { fillPlaceholders } from '../../src/domain/command-harness.ts';
import { loadPresets } from '../../src/harnesses/presets/load-presets.ts';
import { findProblems, loadFiles, toMessages, toPlaces } from './support.ts';

const toFiles = (harness: string, more = '') => ({
  'run.yaml': `models: [mock:oracle]\nsuite: s.yaml\nharness: ${harness}\nenvironment: host\n${more}`,
  's.yaml': 'cases: [{ id: c, input: q, target: a }]\n',
});

const loadHarness = async (harness: string) => (await loadFiles(toFiles(harness))).spec.requests[0]?.harness;

test('a command has defaults for all that a file does not say', async () => {
  expect(await loadHarness('{ kind: command, command: [agent, "{{model}}"] }')).toEqual({
    kind: 'command',
    preset: null,
    command: ['agent', '{{model}}'],
    prompt: { kind: 'argument' },
    variables: {},
    variablesEnv: {},
    proxy: false,
    maxTurns: null,
    timeoutMs: 3_600_000,
    usage: null,
    answer: { kind: 'stdout' },
  });
});

test('every key of a command is read', async () => {
  const harness = `{ kind: command, command: [agent], arguments: [-v], prompt: { file: in/task.md },
    variables: { URL: "{{openaiUrl}}", API_KEY: "{{token}}" }, variablesEnv: { OTHER_KEY: MY_KEY }, proxy: true, maxTurns: 5, timeout: 10m,
    usage: { jsonLines: { file: log.jsonl, where: { type: end }, inputTokens: [a.b, a.c], costUsd: d, combine: last } },
    answer: { json: { file: out.json, path: text } } }`;
  expect(await loadHarness(harness)).toMatchObject({
    command: ['agent', '-v'],
    prompt: { kind: 'file', path: 'in/task.md' },
    variablesEnv: { OTHER_KEY: 'MY_KEY' },
    proxy: true,
    maxTurns: 5,
    timeoutMs: 600_000,
    usage: {
      source: { kind: 'json_lines', from: { kind: 'file', path: 'log.jsonl' }, where: { type: 'end' } },
      paths: { inputTokens: ['a.b', 'a.c'], costUsd: ['d'] },
      combine: 'last',
    },
    answer: { kind: 'json', from: { kind: 'file', path: 'out.json' }, path: 'text' },
  });
});

test('what is wrong with a command is told with its place and what to do', async () => {
  const problems = await findProblems(
    toFiles(
      `{ kind: command, command: [agent, "{{modle}}", "{{promptFile}}"], variables: { "a b": x, T: "{{token}}" }, maxTurns: 3, prompt: stdin, answer: { file: /abs } }`,
    ),
  );
  const messages = toMessages(problems);
  expect(messages.join('\n')).toContain('unknown placeholder {{modle}}');
  expect(problems.find(({ message }) => message.includes('modle'))?.suggestion).toBe('model');
  expect(messages.join('\n')).toContain('{{promptFile}} needs prompt: { file: PATH }');
  expect(messages.join('\n')).toContain('{{token}} is of the recording proxy: set proxy: true');
  expect(messages.join('\n')).toContain('"a b" cannot be the name of an environment variable');
  expect(messages.join('\n')).toContain('maxTurns is counted by the proxy');
  expect(messages.join('\n')).toContain('"/abs" must be relative');
  expect(toPlaces(problems)[0]).toMatch(/^run\.yaml:3:\d+ harness/);
});

test.each([
  ['{ kind: command }', '"command" is missing: give the program with its arguments, or a preset (aider'],
  ['{ kind: command, preset: claude-cod }', 'unknown preset "claude-cod"; known: aider, claude-code'],
  [
    '{ kind: command, command: [a], usage: { pattern: { inputTokens: "(" } } }',
    'a regular expression with a group',
  ],
  ['{ kind: command, command: [a], comand: x }', '"comand"'],
  ['{ kind: command, command: ["{{prompt}}"], prompt: stdin }', 'keep one of them'],
])('%s is refused', async (harness, message) => {
  expect(toMessages(await findProblems(toFiles(harness))).join('\n')).toContain(message);
});

test('F21 a prompt that no command line takes is refused before anything starts, with its size and what to use', async () => {
  const files = {
    ...toFiles('{ kind: command, command: [agent] }'),
    's.yaml': `cases: [{ id: long, input: ${'x'.repeat(300_000)}, target: a }]\n`,
  };
  expect(toMessages(await findProblems(files))).toEqual([
    expect.stringMatching(
      /prompt of case "long" has 300000 bytes.*use prompt: stdin, or prompt: \{ file: PATH \}/,
    ),
  ]);
});

test('a budget for an agent that calls its own model is refused; parameters that nobody sends are refused', async () => {
  const files = (more: string) => ({
    'run.yaml': `models: [{ id: m, provider: openai, model: x, params: { temperature: 0, maxOutputTokens: 5 }, price: { input: 1, output: 1 } }]\nsuite: s.yaml\nenvironment: host\nbudgets: { maxRunUsd: 1 }\nharness: { kind: command, command: [agent]${more} }\n`,
    's.yaml': 'cases: [{ input: q, target: a }]\n',
  });
  const alone = toMessages(await findProblems(files(''))).join('\n');
  expect(alone).toContain(
    'budgets.maxRunUsd cannot hold for an agent that calls its model by itself: set proxy: true',
  );
  expect(alone).toContain('params.temperature, params.maxOutputTokens of model "m" cannot be sent');
  const proxied = toMessages(await findProblems(files(', proxy: true')));
  expect(proxied).toEqual([expect.stringContaining('params.temperature of model "m" cannot be sent')]);
});

const presets = [...loadPresets()];

test('there are presets for the well-known agents', () => {
  expect(presets.map(([name]) => name)).toEqual([
    'aider',
    'claude-code',
    'codex',
    'gemini-cli',
    'goose',
    'mini-swe-agent',
    'opencode',
    'openhands',
  ]);
});

test.each(presets)(
  'preset %s can be read and used as it is, with and without the proxy',
  async (name, preset) => {
    commandPresetSchema.parse(preset);
    expect(await loadHarness(`{ kind: command, preset: ${name} }`)).toMatchObject({
      preset: name,
      proxy: true,
    });
    const alone = await loadHarness(`{ kind: command, preset: ${name}, proxy: false, timeout: 5m }`);
    expect(alone).toMatchObject({ proxy: false, timeoutMs: 300_000 });
  },
);

test('what opencode is told with the proxy filled in is JSON', () => {
  const { harness } = commandPresetSchema.parse(loadPresets().get('opencode'));
  const config = harness.proxyVariables?.['OPENCODE_CONFIG_CONTENT'] ?? '';
  const filled = fillPlaceholders(config, { openaiUrl: 'http://127.0.0.1:1/v1', token: 't', model: 'm' });
  expect(JSON.parse(filled)).toMatchObject({ provider: { assay: { models: { m: {} } } } });
});

test('a key of the run file replaces what the preset says; variables and arguments are added', async () => {
  const harness = await loadHarness(
    '{ kind: command, preset: claude-code, arguments: [--max-turns, "30"], variables: { MY: x }, answer: stdout }',
  );
  expect(harness).toMatchObject({
    command: expect.arrayContaining(['claude', '--max-turns', '30']),
    variables: { MY: 'x', ANTHROPIC_BASE_URL: '{{anthropicUrl}}', IS_SANDBOX: '1' },
    prompt: { kind: 'stdin' },
    answer: { kind: 'stdout' },
  });
});

test('sessions of a run can be opened elsewhere by the command line', async () => {
  const files = toFiles('agent');
  const docker = {
    ...files,
    'run.yaml': files['run.yaml'].replace(
      'environment: host',
      'environment: { kind: docker, image: "x:1", network: none, resources: { pids: 9 } }',
    ),
  };
  const open = async (environment: 'host' | 'bubblewrap') =>
    (await loadFiles(docker, { overrides: { environment } })).spec.requests[0]?.environment;
  expect(await open('bubblewrap')).toMatchObject({
    kind: 'bubblewrap',
    image: null,
    network: { run: { mode: 'none' } },
    resources: { pids: 9 },
  });
  expect(await open('host')).toMatchObject({
    kind: 'host',
    image: null,
    network: { run: { mode: 'public' } },
    resources: { pids: null },
  });
});
