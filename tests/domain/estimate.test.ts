import { expect, test } from 'vitest';
import { estimateRun, outputCap } from '../../src/domain/estimate.ts';
import { load } from '../support/load.ts';

const suite = { name: 's', scorers: ['includes'], cases: [{ id: 'a', input: 'x'.repeat(400), target: 'x' }] };
const model = (id: string, more: object = {}) => ({
  id,
  provider: 'mock',
  model: 'oracle',
  params: { maxOutputTokens: 100 },
  price: { input: 10, output: 100 },
  ...more,
});

async function estimate(document: object) {
  const { spec, suites } = await load(JSON.parse(JSON.stringify(document)));
  return estimateRun(spec, suites);
}

test('a direct call reads a token for every four bytes and says its cap, for each case and attempt', async () => {
  const estimated = await estimate({ models: [model('m')], suite, attempts: { k: 3 } });
  expect(estimated).toMatchObject({
    cells: 3,
    modelCalls: 3,
    inputTokens: 300,
    outputTokens: 300,
    unpricedModels: [],
  });
  expect(estimated.costUsd).toBeCloseTo(0.033, 9);
});

test('an agent reads its transcript again at every step, of which ten are assumed', async () => {
  const request = { harness: { kind: 'agent', maxSteps: 30 }, environment: 'host' };
  expect(await estimate({ models: [model('m')], suite, ...request })).toMatchObject({
    modelCalls: 10,
    inputTokens: 10 * 100 + 45 * 100,
    outputTokens: 1_000,
  });
});

test('C27 one model without a price makes the cost unknown, never 0, and is named', async () => {
  const providers = [{ id: 'p', kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' }];
  const unpriced = { id: 'free', provider: 'p', model: 'm' };
  const estimated = await estimate({ providers, models: [model('m'), unpriced], suite });
  expect(estimated).toMatchObject({ costUsd: null, unpricedModels: ['free'], outputTokens: 612 });
});

test('the cap on output is that of the parameters, or none', async () => {
  const { spec } = await load({ models: [model('m'), model('open', { params: {} })], suite } as never);
  expect(spec.models.map(outputCap)).toEqual([100, null]);
});
