import { expect, test } from 'vitest';
import { loadRun } from '../../src/config/load.ts';
import { CATALOG } from './catalog.ts';
import { findProblems, loadFiles, runOf, toMessages, toPlaces } from './support.ts';

const SUITE = 'cases: [{ input: q, target: a }]\n';

/** Problems of a run file beside a suite `s.yaml` that is right. */
const judge = (run: string) => findProblems({ 'run.yaml': run, 's.yaml': SUITE });
const load = (run: string) => loadFiles({ 'run.yaml': run, 's.yaml': SUITE });

test('a small file becomes one request with every default filled in', async () => {
  const { spec, seedDrawn } = await load(runOf('./s.yaml'));
  expect(seedDrawn).toBe(true);
  expect(spec).toEqual({
    name: 'run',
    models: [
      {
        id: 'mock:oracle',
        providerId: 'mock',
        model: 'oracle',
        params: {},
        price: { input: 0, output: 0, cacheRead: null, cacheWrite: null },
      },
    ],
    providers: [
      {
        id: 'mock',
        kind: 'mock',
        baseUrl: null,
        apiKeyEnv: null,
        concurrency: 'auto',
        requestsPerMinute: null,
        tokensPerMinute: null,
        retry: { max: 4, baseMs: 1000 },
        stream: false,
        timeouts: { connectMs: 10_000, firstByteMs: 600_000, idleMs: 120_000 },
      },
    ],
    requests: [
      {
        name: 's',
        suiteKey: 's.yaml',
        modelIds: ['mock:oracle'],
        harness: { kind: 'direct' },
        environment: { kind: 'none' },
        evaluation: 'reuse',
        attempts: { k: 1, strategy: 'avg' },
        retries: { max: 0, patterns: null },
        limits: { attemptTimeMs: null, attemptTokens: null, attemptCostUsd: null, modelCallTimeMs: 600_000 },
        order: 'case',
      },
    ],
    execution: {
      taskConcurrency: 32,
      timeoutMs: null,
      cleanupGraceMs: 30_000,
      failFast: false,
      seed: spec.execution.seed,
      packing: 'auto',
    },
    budgets: {
      maxRunUsd: null,
      maxModelUsd: null,
      maxRunTokens: null,
      confirmAboveUsd: null,
      approvalExpiryMs: 86_400_000,
      onExceed: 'stop',
      allowUnpriced: false,
    },
    gates: {
      minCoverage: null,
      minPassRate: null,
      minMean: null,
      maxUnscoredRate: null,
      requireModels: false,
    },
    context: {},
  });
});

test('every key of the specification is known; kinds of later versions are told by name', async () => {
  const problems = await judge(`
name: support-bot
models:
  - { id: fast, provider: openai, model: gpt-5-mini, params: { temperature: 0, maxOutputTokens: 1024 },
      price: { input: 0.25, output: 2.00, cacheRead: 0.025, cacheWrite: 0.3 } }
  - mock:oracle
providers:
  - id: local
    kind: openai-compatible
    baseUrl: http://127.0.0.1:8080/v1
    apiKeyEnv: LOCAL_KEY
    limits: { concurrency: auto, requestsPerMinute: 600, tokensPerMinute: 200000 }
requests:
  - name: tickets
    suite: ./s.yaml
    models: [fast, "mock:oracle"]
    harness: { kind: agent, tools: [bash, read_file], maxSteps: 30 }
    environment: { kind: bubblewrap, network: { baseline: public, run: none, evaluation: none } }
    evaluation: { environment: fresh }
    attempts: { k: 3, strategy: avg }
    retries: { max: 2, patterns: null }
    limits: { attemptTime: 30m, attemptTokens: 400000, attemptCostUsd: 1, modelCallTime: 10m }
    order: case
  - { name: coder, suite: ./s.yaml, models: ["mock:oracle"], harness: { kind: command, command: [coder], proxy: true }, environment: { kind: docker, image: "coder:1" } }
execution: { taskConcurrency: 32, timeout: 4h, cleanupGrace: 30s, failFast: false, seed: 7, packing: auto }
budgets:   { maxRunUsd: 20, maxModelUsd: 8, maxRunTokens: null, confirmAboveUsd: 10, approvalExpiry: 24h, onExceed: stop, allowUnpriced: false }
judge:     { model: "openai:gpt-5", params: {} }
ranking:   { weights: { accuracy: 0.7, cost: 0.2, latencyP95: 0.1 }, constraints: { minAccuracy: 0.6, maxErrorRate: 0.05 } }
gates:     { minCoverage: 0.95, minPassRate: 0.8, minMean: null, maxUnscoredRate: 0.02, requireModels: true, baseline: last }
context:   { tenant: acme }
`);
  expect(toMessages(problems)).toEqual([
    'model "gpt-5-mini" does not take temperature 0: a reasoning model draws as it likes; remove it, steer by reasoningEffort',
    '"gates.baseline" is not checked by a run itself; remove it and run `assay gate RUN --baseline last` after it',
  ]);
});

test('a judge that no scorer asks, and other settings without effect, are warnings', async () => {
  const { warnings } = await load(`
models: [p:x]
providers:
  - { id: p, kind: openai-compatible, baseUrl: http://h, apiKeyEnv: "\${KEY}" }
suite: s.yaml
judge: { model: p:x }
ranking: { weights: { accuracy: 1 } }
`);
  expect(warnings.map((warning) => /^"?([\w.[\]]+)/.exec(warning)?.[1])).toEqual(['suite', 'judge']);
});

test('durations become milliseconds and null means no limit', async () => {
  const { spec } = await load(`
models: [p:llama3:8b]
providers: [{ id: p, kind: openai-compatible, baseUrl: "http://h/v1", retry: { max: 0, base: 250ms }, timeouts: { idle: 1.5s } }]
suite: s.yaml
limits: { attemptTime: 2h, modelCallTime: null }
execution: { timeout: 30s, seed: 7 }
`);
  expect(spec.models[0]).toMatchObject({
    id: 'p:llama3:8b',
    providerId: 'p',
    model: 'llama3:8b',
    price: null,
  });
  expect(spec.providers[0]).toMatchObject({ retry: { max: 0, baseMs: 250 }, timeouts: { idleMs: 1500 } });
  expect(spec.requests[0]?.limits).toMatchObject({ attemptTimeMs: 7_200_000, modelCallTimeMs: null });
  expect(spec.execution).toMatchObject({ timeoutMs: 30_000, seed: 7 });
});

test('ids of models, providers and requests are unique', async () => {
  const problems = await judge(`
models: [mock:oracle, mock:oracle]
providers: [{ id: p, kind: mock }, { id: p, kind: mock }]
requests: [{ suite: s.yaml }, { suite: ./s.yaml }]
`);
  expect(toPlaces(problems)).toEqual([
    'run.yaml:2:23 models[1]',
    'run.yaml:3:42 providers[1].id',
    'run.yaml:4:31 requests[1]',
  ]);
});

test('one suite that two requests name is loaded once', async () => {
  const { suites, spec } = await load(
    'models: [mock:oracle]\nrequests: [{ name: a, suite: s.yaml }, { name: b, suite: ./s.yaml }]\n',
  );
  expect([...suites.keys()]).toEqual(['s.yaml']);
  expect(spec.requests.map(({ suiteKey }) => suiteKey)).toEqual(['s.yaml', 's.yaml']);
});

test('request keys at the top of a file that has requests are refused', async () => {
  const problems = await judge('models: [mock:oracle]\nattempts: { k: 2 }\nrequests: [{ suite: s.yaml }]\n');
  expect(toMessages(problems)).toEqual([
    '"attempts" belongs into each of the "requests" when a file has them',
  ]);
});

test('scripts and answers of mock models are read into the document, answers as written', async () => {
  const { spec } = await loadFiles({
    'run.yaml': `models:
  - { id: a, provider: mock, model: answers, params: { answersFile: answers.yaml } }
  - { id: s, provider: mock, model: script, params: { scriptFile: ./script.json, skill: 0.5 } }
suite: s.yaml
`,
    's.yaml': SUITE,
    'answers.yaml': 'one: 007\ntwo: no\n',
    'script.json': '{"cases": {"1": {"good": [{"say": "a"}], "bad": []}}}',
  });
  expect(spec.models[0]?.params).toEqual({ answers: { one: '007', two: 'no' } });
  expect(spec.models[1]?.params).toMatchObject({
    skill: 0.5,
    script: { cases: { '1': { good: [{ say: 'a' }] } } },
  });
});

test('the command line can change width, seed, attempts, and put one address in place of the models', async () => {
  const overrides = {
    attempts: 5,
    taskConcurrency: 3,
    seed: 1,
    endpoint: { baseUrl: 'http://127.0.0.1:1/v1', models: ['m'], apiKeyEnv: null },
  };
  const { spec, seedDrawn } = await loadFiles(
    { 'run.yaml': runOf('s.yaml'), 's.yaml': SUITE },
    { overrides },
  );
  expect(seedDrawn).toBe(false);
  expect(spec.execution).toMatchObject({ taskConcurrency: 3, seed: 1 });
  expect(spec.requests[0]).toMatchObject({ attempts: { k: 5 }, modelIds: ['m'] });
  expect(spec.models.map(({ id, providerId }) => [id, providerId])).toEqual([['m', 'endpoint']]);
});

test('a document from a program is checked like a file, without lines', async () => {
  const value = { models: ['mock:oracle'], suite: { cases: [{ input: 'q', target: 7 }] }, extra: 1 };
  const bad = loadRun({ source: { kind: 'document', value, baseDir: '.' }, catalog: CATALOG });
  await expect(bad).rejects.toThrow('(document)  extra\n  unknown key "extra"');
  const { extra: _extra, ...good } = value;
  const { suites } = await loadRun({
    source: { kind: 'document', value: good, baseDir: '.' },
    catalog: CATALOG,
  });
  expect(suites.get('inline:run')?.cases[0]?.target).toEqual({ values: [7] });
  const infinite = { ...good, context: { a: [Number.NaN] } };
  await expect(
    loadRun({ source: { kind: 'document', value: infinite, baseDir: '.' }, catalog: CATALOG }),
  ).rejects.toThrow('context.a[0]');
});
