import { expect, test } from 'vitest';
import { parseWeights } from '../../src/cli/parse-weights.ts';

test('weights are given as metric=number', () => {
  expect(parseWeights('accuracy=0.7, cost=0.2,latencyP95=0.1')).toEqual({
    accuracy: 0.7,
    cost: 0.2,
    latencyP95: 0.1,
  });
});

test.each([
  ['speed=1', '"speed" cannot be weighed; known: accuracy, cost, latencyP50, latencyP95'],
  ['cost', 'expected a number of at least 0 for cost, got ""'],
  ['cost=-1', 'got "-1"'],
  ['cost=much', 'got "much"'],
  ['cost=0', 'at least one weight must be above 0'],
])('%s is told as a problem', (text, problem) => {
  expect(() => parseWeights(text)).toThrow(problem);
});
