import { expect, test } from 'vitest';
import { findProblems, runOf, toMessages, toPlaces } from './support.ts';

const SUITE = 'cases: [{ input: q, target: a }]\n';

/** Problems of a run file beside a suite `s.yaml` that is right. */
const judge = (run: string) => findProblems({ 'run.yaml': run, 's.yaml': SUITE });

test('AA-03 unknown scorers, tools, models, providers and a missing target are refused before anything starts', async () => {
  const problems = await findProblems({
    'run.yaml': [
      'models: [mock:oracle, nowhere:x]',
      'requests:',
      '  - { suite: s.yaml, models: [other], harness: { kind: agent, tools: [grep] }, environment: host }',
    ].join('\n'),
    's.yaml': 'scorers: [includes, guess]\ncases: [{ id: lost, input: q }]\n',
  });
  const text = toMessages(problems).join('\n');
  for (const part of ['provider "nowhere"', 'model "other"', 'tool "grep"', 'scorer "guess"']) {
    expect(text).toContain(`unknown ${part}`);
  }
  expect(text).toContain('scorer "includes" needs a target, and 1 case has none: lost');
});

test('at most ten cases without a target are named', async () => {
  const cases = Array.from({ length: 13 }, (_, index) => `  - { id: c${index + 1}, input: q }`).join('\n');
  const problems = await findProblems({
    'run.yaml': runOf('s.yaml'),
    's.yaml': `scorers: [exact]\ncases:\n${cases}\n`,
  });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatchObject({ file: 's.yaml', line: 3 });
  expect(problems[0]?.message).toContain(
    '13 cases have none: c1, c2, c3, c4, c5, c6, c7, c8, c9, c10 and 3 more',
  );
});

test('AC-P8 a parameter that the provider cannot send is a problem of the model', async () => {
  const problems = await judge(
    'models: [{ provider: mock, model: fixed, params: { text: a, topQ: 1 } }]\nsuite: s.yaml\n',
  );
  expect(toPlaces(problems)).toEqual(['run.yaml:1:67 models[0].params.topQ']);
  expect(toMessages(problems)[0]).toMatch(/^unknown parameter "topQ"; possible: seed, latencyMs, .*accuracy/);
});

test('a mock model that lacks a parameter, or does not exist, is found before anything starts', async () => {
  const problems = await judge(
    [
      'models:',
      '  - mock:fixed',
      '  - { id: f, provider: mock, model: flaky, params: { accuracy: 7 } }',
      '  - { id: o, provider: mock, model: oracel }',
      '  - { id: a, provider: mock, model: answers, params: { answersFile: none.yaml } }',
      'suite: s.yaml',
    ].join('\n'),
  );
  expect(toPlaces(problems)).toEqual([
    'run.yaml:2:5 models[0]',
    'run.yaml:3:64 models[1].params.accuracy',
    'run.yaml:4:37 models[2].model',
    'run.yaml:5:69 models[3].params.answersFile',
  ]);
  expect(toMessages(problems)[0]).toBe('mock model "fixed" needs params.text');
});

test('the agent harness needs an environment, and a scorer of a session too', async () => {
  const problems = await findProblems({
    'run.yaml': 'models: [mock:oracle]\nrequests: [{ name: a, suite: s.yaml, harness: agent }]\n',
    's.yaml': 'scorers: [{ kind: command, command: ./check }]\ncases: [{ input: q }]\n',
  });
  expect(toMessages(problems)).toEqual([
    'the agent harness needs an environment to act in: add environment: { kind: host }',
    'request "a": scorer "command" acts in an environment, and this request has none: add environment: { kind: host }',
  ]);
});

test('C27 what judges or caps the cost of an attempt needs the price of every model that it meets', async () => {
  const run = (more: string, model = 'p:x'): string =>
    `models: [${model}]\nproviders: [{ id: p, kind: openai-compatible, baseUrl: http://h }]\nsuite: s.yaml\n${more}`;
  const find = async (text: string, scorer = '{ kind: cost, maxUsd: 0.1 }') =>
    toMessages(
      await findProblems({
        'run.yaml': text,
        's.yaml': `scorers: [includes, ${scorer}]\ncases: [{ input: q, target: a }]\n`,
      }),
    );
  const [problem, ...others] = await find(run(''));
  expect(others).toEqual([]);
  expect(problem).toContain(
    'scorer "cost" is required and judges what an attempt costs, and these models have no price: p:x. Give each a "price", or the scorer "required: false"',
  );
  expect(await find(run(''), '{ kind: cost, maxUsd: 0.1, required: false }')).toEqual([]);
  expect(await find(run('', '{ provider: p, model: x, price: { input: 1, output: 2 } }'))).toEqual([]);
  expect(await find(run('', 'mock:oracle'))).toEqual([]);
  const capped = run('limits: { attemptCostUsd: 1 }\n');
  expect(await find(capped, 'exact')).toEqual([
    expect.stringContaining('limits.attemptCostUsd cannot hold for models without a price: p:x.'),
  ]);
  expect(await find(`${capped}budgets: { allowUnpriced: true }\n`, 'exact')).toEqual([]);
});

test('a budget needs prices and a bound on every answer; mock models are free', async () => {
  const run = (budgets: string, model = 'p:x'): string =>
    `models: [${model}]\nproviders: [{ id: p, kind: openai-compatible, baseUrl: http://h }]\nsuite: s.yaml\nbudgets: ${budgets}\n`;
  expect(toMessages(await judge(run('{ maxRunUsd: 0 }'))).join('\n')).toMatch(/price[\s\S]*maxOutputTokens/);
  const bounded = '{ provider: p, model: x, params: { maxOutputTokens: 9 } }';
  expect(await judge(run('{ maxRunUsd: 0, allowUnpriced: true }', bounded))).toEqual([]);
  expect(await judge(run('{ maxModelUsd: 1, confirmAboveUsd: 1 }', 'mock:oracle'))).toEqual([]);
  expect(toMessages(await judge(run('{ maxRunTokens: 10 }', 'mock:oracle'))).join()).toContain(
    'maxOutputTokens',
  );
});
