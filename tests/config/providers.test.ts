import { expect, test } from 'vitest';
import { CATALOG } from './catalog.ts';
import { loadRun } from '../../src/config/load.ts';
import { runSpecSchema } from '../../src/config/document-schema.ts';
import { createBuiltInCatalog } from '../../src/config/built-in-catalog.ts';
import { defineProvider } from '../../src/providers/define-provider.ts';
import { findKnownModel } from '../../src/providers/find-price.ts';
import { createProviderLookup } from '../../src/providers/lookup.ts';
import type { Json } from '../../src/domain/json.ts';
import { findProblems, toMessages } from './support.ts';

const SUITE = { name: 's', scorers: ['includes'], cases: [{ id: 'a', input: 'q', target: 't' }] };

const loadWhole = (run: { readonly [key: string]: Json }, catalog = CATALOG) => {
  const value = { suite: SUITE, ...run };
  return loadRun({ source: { kind: 'document', value, baseDir: process.cwd() }, catalog });
};
const loadSpec = async (run: { readonly [key: string]: Json }, catalog = CATALOG) =>
  (await loadWhole(run, catalog)).spec;

const judge = async (run: string) =>
  toMessages(
    await findProblems({
      'run.yaml': `${run}\nsuite: s.yaml\n`,
      's.yaml': 'cases: [{ input: q, target: a }]\n',
    }),
  );

test('a kind by its name alone has its own address and key variable', async () => {
  const { providers, models } = await loadSpec({
    models: ['openai:gpt-5-mini', 'anthropic:claude-haiku-4-5', 'google:gemini-2.5-flash'],
  });
  expect(providers.map(({ id, kind, baseUrl, apiKeyEnv }) => [id, kind, baseUrl, apiKeyEnv])).toEqual([
    ['openai', 'openai', 'https://api.openai.com/v1', 'OPENAI_API_KEY'],
    ['anthropic', 'anthropic', 'https://api.anthropic.com/v1', 'ANTHROPIC_API_KEY'],
    ['google', 'google', 'https://generativelanguage.googleapis.com/v1beta', 'GOOGLE_GENERATIVE_AI_API_KEY'],
  ]);
  expect(models.map(({ price }) => price?.output)).toEqual([2, 5, 2.5]);
});

test('an entry overrides address and key variable; null sends no key', async () => {
  const { providers } = await loadSpec({
    providers: [{ id: 'proxy', kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: null }],
    models: [{ provider: 'proxy', model: 'gpt-5' }],
  });
  expect(providers).toEqual([
    expect.objectContaining({ kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKeyEnv: null }),
  ]);
});

test('the plan says where a price comes from, and the run file comes first', async () => {
  const spec = await loadSpec({
    providers: [{ id: 'proxy', kind: 'openai', baseUrl: 'http://127.0.0.1:1/v1' }],
    models: [
      'openai:gpt-5-2025-08-07',
      { id: 'own', provider: 'openai', model: 'gpt-5', price: { input: 1, output: 2 } },
      { id: 'far', provider: 'proxy', model: 'gpt-5' },
      'openai:gpt-unheard-of',
    ],
  });
  const card = findKnownModel({ kind: 'openai', model: 'gpt-5', params: {}, now: Date.now() })?.card;
  expect(card).toMatchObject({ model: 'gpt-5', date: '2025-11-13', vendor: false });
  expect(spec.models.map(({ price, card: found }) => [price?.input ?? null, found ?? null])).toEqual([
    [1.25, { ...card, priced: true }],
    [1, { ...card, priced: false }],
    [null, { ...card, priced: false }],
    [null, null],
  ]);
  expect(runSpecSchema.parse(JSON.parse(JSON.stringify(spec)))).toEqual(spec);
});

test('Anthropic gets a cap on output: the parameter, else the longest answer of the table, else a problem', async () => {
  const { models } = await loadSpec({
    models: [
      'anthropic:claude-haiku-4-5',
      { id: 'small', provider: 'anthropic', model: 'claude-haiku-4-5', params: { maxOutputTokens: 9 } },
    ],
  });
  expect(models.map(({ outputLimit }) => outputLimit ?? null)).toEqual([64_000, null]);
  expect(await judge('models: [anthropic:claude-next]')).toEqual([
    'model "claude-next" needs params.maxOutputTokens: "anthropic" demands a cap on output, and the price table does not say how long its answers may be',
  ]);
});

test('with a budget the table bounds an answer, and a model without a row still needs its parameter', async () => {
  const { spec, warnings } = await loadWhole({ models: ['openai:gpt-5-mini'], budgets: { maxRunUsd: 5 } });
  expect(spec.models[0]?.outputLimit).toBe(128_000);
  expect(warnings).toContain(
    'model "openai:gpt-5-mini" has no params.maxOutputTokens: each call reserves 128000 tokens of output against the budget',
  );
  const problems = await judge('models: [openai:gpt-x]\nbudgets: { maxRunTokens: 100 }');
  expect(problems).toEqual([
    'a budget reserves the longest possible answer, so these models need params.maxOutputTokens: openai:gpt-x',
  ]);
});

test('what a model refuses is a problem at its parameter', async () => {
  const problems = await findProblems({
    'run.yaml':
      'models:\n  - { provider: openai, model: o4-mini, params: { temperature: 0 } }\nsuite: s.yaml\n',
    's.yaml': 'cases: [{ input: q, target: a }]\n',
  });
  expect(problems[0]).toMatchObject({
    line: 2,
    message: expect.stringMatching(/^model "o4-mini" does not take temperature 0: /),
  });
});

test('an unknown kind names the known ones and the nearest', async () => {
  const problems = await findProblems({
    'run.yaml': 'providers: [{ id: p, kind: antropic }]\nmodels: [p:x]\nsuite: s.yaml\n',
    's.yaml': 'cases: [{ input: q, target: a }]\n',
  });
  expect(problems[0]).toMatchObject({
    message: expect.stringContaining(
      'unknown provider kind "antropic"; known: openai, anthropic, google, openai-compatible, mock',
    ),
    suggestion: 'anthropic',
  });
});

test('a run file names the kind of a plug-in, and its parameters are checked', async () => {
  const house = defineProvider({ kind: 'house', apiKeyEnv: 'HOUSE_KEY', call: async () => ({}) });
  const catalog = createBuiltInCatalog(createProviderLookup([house]));
  const { providers } = await loadSpec({ models: ['house:big'] }, catalog);
  expect(providers).toEqual([expect.objectContaining({ kind: 'house', apiKeyEnv: 'HOUSE_KEY' })]);
});
