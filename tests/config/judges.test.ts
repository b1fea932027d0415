import { expect, test } from 'vitest';
import { ConfigError } from '../../src/config/problem.ts';
import type { Json } from '../../src/domain/json.ts';
import { load } from '../support/load.ts';

type Document = { readonly [key: string]: Json };

const toDocument = (rest: Document = {}, scorer: Document = {}): Document => ({
  name: 'judged',
  models: ['mock:echo', { id: 'named', provider: 'local', model: 'large', params: { temperature: 1 } }],
  providers: [
    { id: 'local', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' },
    { id: 'idle', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:10/v1' },
  ],
  suite: {
    name: 's',
    scorers: [{ kind: 'judge', rubric: 'Be just.', ...scorer }],
    cases: [{ id: 'c', input: 'x' }],
  },
  ...rest,
});

async function findProblems(document: Document): Promise<readonly string[]> {
  try {
    await load(document);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ message }) => message);
  }
}

test('a judge is a model of the file with other parameters, or one by its short form', async () => {
  const judge = [
    { model: 'named', params: { maxOutputTokens: 9 }, price: { input: 1, output: 2 } },
    { id: 'second', model: 'local:small:7b' },
  ];
  const { spec, warnings } = await load(toDocument({ judge }));
  expect(spec.judges).toMatchObject([
    { id: 'named', providerId: 'local', model: 'large', params: { temperature: 1, maxOutputTokens: 9 } },
    { id: 'second', providerId: 'local', model: 'small:7b', params: {}, price: null },
  ]);
  expect(spec.models).toHaveLength(2);
  expect(warnings).toEqual([]);
});

test('a judge that no scorer asks is left out with a warning, and its provider with it', async () => {
  const judge = [{ model: 'named' }, { id: 'spare', model: 'idle:x' }];
  const { spec, warnings } = await load(toDocument({ judge }, { judges: ['named'] }));
  expect(spec.judges?.map(({ id }) => id)).toEqual(['named']);
  expect(spec.providers.map(({ id }) => id)).not.toContain('idle');
  expect(warnings).toEqual(['judge spare: no scorer asks it']);
});

test('AA-03 a scorer without a judge, an unknown judge and an unknown model are refused by name', async () => {
  expect(await findProblems(toDocument())).toEqual([
    'suite "s": scorer "judge" asks a judge, and the run has none: add judge: { model: "provider:model" }',
  ]);
  expect(await findProblems(toDocument({ judge: { model: 'named' } }, { judges: ['name'] }))).toEqual([
    'suite "s": scorer "judge" asks judge "name", and the run has named',
  ]);
  expect(await findProblems(toDocument({ judge: { model: 'nobody' } }))).toEqual([
    'unknown model "nobody": expected "provider:model" or the id of a model of this file',
  ]);
  expect(await findProblems(toDocument({ judge: [{ model: 'named' }, { model: 'named' }] }))).toEqual([
    'two models have the id "named": give one of them an "id" of its own',
  ]);
});

test('a budget needs the price and the output cap of a judge, too', async () => {
  const budgets = { maxRunUsd: 1 };
  const models = ['mock:echo'];
  expect(await findProblems(toDocument({ models, budgets, judge: { model: 'local:x' } }))).toEqual([
    expect.stringContaining('these have none: judge local:x'),
    expect.stringContaining('these models need params.maxOutputTokens: judge local:x'),
  ]);
});

test('a scorer that shows judges the target needs one only where it says so', async () => {
  const judge = { model: 'named' };
  expect(await findProblems(toDocument({ judge }, { reference: 'required' }))).toEqual([
    expect.stringContaining('scorer "judge" needs a target'),
  ]);
  expect(await findProblems(toDocument({ judge }, { reference: 'none' }))).toEqual([]);
});
