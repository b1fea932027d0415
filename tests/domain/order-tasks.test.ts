import { expect, test } from 'vitest';
import { orderTasks } from '../../src/domain/order-tasks.ts';
import type { RequestSpec } from '../../src/domain/run.ts';

const toRequest = (order: 'case' | 'model', modelIds: string[], caseIds: string[]) => ({
  spec: { order, modelIds } as unknown as RequestSpec,
  caseIds,
});

const names = (requests: Parameters<typeof orderTasks>[0]) =>
  orderTasks(requests).map((one) => `${one.task}:${one.requestIndex}/${one.modelId}/${one.caseId}`);

test('requests come in declaration order, inside them by case or by model, numbered from 1', () => {
  expect(
    names([toRequest('model', ['b', 'a'], ['x', 'y']), toRequest('case', ['b', 'a'], ['x', 'y'])]),
  ).toEqual(['1:0/b/x', '2:0/b/y', '3:0/a/x', '4:0/a/y', '5:1/b/x', '6:1/a/x', '7:1/b/y', '8:1/a/y']);
  expect(names([toRequest('case', [], ['x'])])).toEqual([]);
});
