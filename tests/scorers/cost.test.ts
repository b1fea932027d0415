import { expect, test } from 'vitest';
import { cost } from '../../src/scorers/cost.ts';
import { runScorer } from '../../src/scorers/guard.ts';
import { buildInput } from './support.ts';

const judge = (costUsd: number | null, maxUsd = 0.01) =>
  runScorer(cost, {
    ...buildInput({ answer: 'x' }, cost.options.parse({ maxUsd })),
    measured: { latencyMs: 1, costUsd },
  });

test('an attempt within the price scores 1, a dearer one the share of it', async () => {
  expect(await judge(0.01)).toMatchObject({ value: 1, pass: true });
  expect(await judge(0.04)).toMatchObject({
    value: 0.25,
    pass: false,
    explanation: 'cost 0.04 USD, at most 0.01 expected',
  });
});

test('AA-15 a limit of 0 is a limit, and an unknown cost is no cost of 0', async () => {
  expect(await judge(0, 0)).toMatchObject({ value: 1, pass: true });
  expect(await judge(0.01, 0)).toMatchObject({ value: 0, pass: false });
  const unknown = await judge(null);
  expect(unknown).toMatchObject({ kind: 'unscored', code: 'cost_unknown' });
  expect(unknown.explanation).toContain('give the model a "price"');
});
