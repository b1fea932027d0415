import { expect, expectTypeOf, test } from 'vitest';
import { defineConfig, defineProvider, defineRun, defineScorer, defineTool, z } from '../../src/index.ts';

/** What is here is checked by the compiler: each line under `@ts-expect-error` must not compile. */

const suite = { cases: [{ id: 'one', input: 'Say 1.', target: '1' }] };

const lookup = defineTool({
  name: 'lookup',
  description: 'Looks up.',
  parameters: z.strictObject({ number: z.int(), unit: z.string().default('kg') }),
  execute: (args, context) => {
    expectTypeOf(args).toEqualTypeOf<{ number: number; unit: string }>();
    expectTypeOf(context.idempotencyKey).toBeString();
    // @ts-expect-error no such argument
    return args.nummer ?? context.attempt;
  },
});

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: {
    type: 'object',
    properties: {
      words: { type: 'array', items: { type: 'string' } },
      order: { enum: ['new', 'old'] },
      limit: { type: 'integer' },
    },
    required: ['words'],
  },
  execute: ({ words, order, limit }) => {
    expectTypeOf(words).toEqualTypeOf<readonly string[]>();
    expectTypeOf(order).toEqualTypeOf<'new' | 'old' | undefined>();
    expectTypeOf(limit).toEqualTypeOf<number | undefined>();
    return words.length;
  },
});

const near = defineScorer({
  name: 'near',
  options: z.strictObject({ by: z.number() }),
  score: ({ answer, target }, { by }) => Math.abs(Number(answer) - Number(target)) <= by,
});

const house = defineProvider({
  kind: 'house',
  call: async ({ model, messages }) => ({ text: `${model} ${messages.length}` }),
});

const runs = () => [
  defineRun({ providers: [{ id: 'mine', kind: house }], models: ['mine:any'], suite }),
  defineRun({ models: ['mock:oracle'], suite, harness: { kind: 'agent', tools: [lookup, 'bash', search] } }),
  defineRun({
    models: ['mock:oracle'],
    requests: [{ suite: './s.yaml' }, { name: 'b', suite, attempts: { k: 3 } }],
  }),
  defineRun({
    models: ['mock:oracle'],
    suite: { ...suite, scorers: ['exact', near, { kind: near, by: 2, weight: 2 }] },
  }),
  // @ts-expect-error no such key
  defineRun({ model: ['mock:oracle'], suite }),
  // @ts-expect-error models are missing
  defineRun({ suite }),
  // @ts-expect-error no such key in a request
  defineRun({ models: ['mock:oracle'], requests: [{ suite, attempt: { k: 3 } }] }),
  // @ts-expect-error no such key inside a part
  defineRun({ models: ['mock:oracle'], suite, execution: { taskConcurrencie: 3 } }),
  // @ts-expect-error not one of the words
  defineRun({ models: ['mock:oracle'], suite, order: 'cases' }),
  // @ts-expect-error a scorer is no tool
  defineRun({ models: ['mock:oracle'], suite, harness: { kind: 'agent', tools: [near] } }),
  // @ts-expect-error no such key in a case
  defineRun({ models: ['mock:oracle'], suite: { cases: [{ id: 'one', inputs: 'Say 1.' }] } }),
  // @ts-expect-error a suite has cases
  defineRun({ models: ['mock:oracle'], suite: { scorers: [near] } }),
];

const others = () => [
  defineConfig({ budgets: { maxRunUsd: 5 } }),
  // @ts-expect-error no such key
  defineConfig({ budget: { maxRunUsd: 5 } }),
  defineTool({
    name: 'a',
    description: 'b',
    parameters: z.strictObject({}),
    // @ts-expect-error a time without its unit
    timeout: '60',
    execute: () => 1,
  }),
  // @ts-expect-error a scorer gives a number, not a text
  defineScorer({ name: 'a', score: () => 'good' }),
];

test('a run file with wrong keys does not compile, and arguments have the types of their schema', () => {
  expect(runs().length + others().length).toBe(16);
  expect(lookup.name).toBe('lookup');
});
