import { expect, test } from 'vitest';
import type { LoadedRun } from '../../src/config/load.ts';
import { SELECT_ALL } from '../../src/config/selection.ts';
import type { Selection } from '../../src/config/selection.ts';
import { findProblems, loadFiles } from './support.ts';

const FILES = {
  'run.yaml': `
models: [mock:oracle, mock:echo]
requests:
  - { name: first, suite: a.yaml }
  - { name: second, suite: b.yaml, models: ["mock:echo"] }
`,
  'a.yaml': `cases:
  - { id: maths/sum, input: q, target: 1, tags: [maths, easy] }
  - { id: maths/root, input: q, target: 1, tags: [maths, hard] }
  - { id: "odd[1]*", input: q, target: 1 }
`,
  'b.yaml': 'cases: [{ id: river, input: q, target: a, tags: [geography] }]\n',
};

const select = (selection: Partial<Selection>): Promise<LoadedRun> =>
  loadFiles(FILES, { selection: { ...SELECT_ALL, ...selection } });

const fail = async (selection: Partial<Selection>) =>
  (await findProblems(FILES, { selection: { ...SELECT_ALL, ...selection } })).map(
    ({ message, suggestion }) => ({
      message,
      suggestion,
    }),
  );

const toIds = (loaded: LoadedRun): readonly string[] =>
  [...loaded.suites.values()].flatMap(({ cases }) => cases.map(({ testCase }) => testCase.id));

test('cases are chosen by id and by glob, a star also crosses slashes', async () => {
  expect(toIds(await select({ cases: ['maths*'] }))).toEqual(['maths/sum', 'maths/root']);
  expect(toIds(await select({ cases: ['odd[1]*', 'river'] }))).toEqual(['odd[1]*', 'river']);
});

test('tags, excluded tags and a limit for each suite narrow the cases', async () => {
  expect(toIds(await select({ tags: ['maths'], excludeTags: ['hard'] }))).toEqual(['maths/sum']);
  expect(toIds(await select({ limit: 1 }))).toEqual(['maths/sum', 'river']);
});

test('models and requests that are not chosen leave the run, with their suites', async () => {
  const byRequest = await select({ requests: ['second'] });
  expect(byRequest.spec.models.map(({ id }) => id)).toEqual(['mock:echo']);
  expect([...byRequest.suites.keys()]).toEqual(['b.yaml']);
  const byModel = await select({ models: ['mock:oracle'] });
  expect(byModel.spec.requests.map(({ name }) => name)).toEqual(['first']);
});

test('a request without a chosen case is left out aloud, and so is a glob that matches nothing', async () => {
  const loaded = await select({ cases: ['river', 'lake'] });
  expect(loaded.spec.requests.map(({ name }) => name)).toEqual(['second']);
  expect(loaded.warnings).toContain('request "first": the selection leaves no case of its suite');
  expect(loaded.warnings).toContain('--case lake matches no selected case');
});

test('an empty selection is an error that names the filter and the nearest name', async () => {
  expect(await fail({ cases: ['rivr'] })).toEqual([
    { message: '--case rivr leaves no case (4 before it)', suggestion: 'river' },
  ]);
  expect(await fail({ tags: ['math'] })).toEqual([
    {
      message: '--tag math leaves no case (4 before it); tags: maths, easy, hard, geography',
      suggestion: 'maths',
    },
  ]);
  expect(await fail({ tags: ['maths'], excludeTags: ['easy', 'hard'] })).toEqual([
    { message: '--exclude-tag easy, hard leaves no case (2 before it)', suggestion: null },
  ]);
  expect(await fail({ limit: 0 })).toEqual([{ message: '--limit 0 leaves no case', suggestion: null }]);
});

test('unknown models and requests are errors even beside known ones', async () => {
  expect(await fail({ models: ['mock:echo', 'mock:orcale'], requests: ['frist'] })).toEqual([
    { message: '--request "frist" is unknown; known: first, second', suggestion: 'first' },
    { message: '--model "mock:orcale" is unknown; known: mock:oracle, mock:echo', suggestion: 'mock:oracle' },
  ]);
  expect(await fail({ models: ['mock:oracle'], requests: ['second'] })).toEqual([
    { message: '--model mock:oracle leaves nothing: no chosen request uses it', suggestion: null },
  ]);
});
