import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestAssay, type TestAssay } from '../support/assay.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(async () => {
  await assay.close();
});

const questions = (count: number) => ({
  name: 'sums',
  scorers: ['exact'],
  cases: Array.from({ length: count }, (_, index) => ({
    id: `sum-${index + 1}`,
    input: `What is ${index} + 1?`,
    target: String(index + 1),
  })),
});

test('a matrix of two models, five cases and two attempts ends complete with each cell once', async () => {
  const result = await assay.run({
    name: 'first',
    models: [
      { id: 'right', provider: 'mock', model: 'oracle' },
      { id: 'wrong', provider: 'mock', model: 'fixed', params: { text: 'no idea' } },
    ],
    suite: questions(5),
    attempts: { k: 2 },
  });
  expect(result).toMatchObject({ state: 'completed', planned: 20, recorded: 20, outcomes: { scored: 20 } });
});
