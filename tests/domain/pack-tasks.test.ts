import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPacked, packTasks, type PackingRule } from '../../src/domain/pack-tasks.ts';
import type { TaskRef } from '../../src/domain/plan.ts';

const toTask = (task: number, k = 1, requestIndex = 0): TaskRef => ({
  task,
  requestIndex,
  modelId: 'm',
  caseId: `c${task}`,
  attempts: Array.from({ length: k }, (_, index) => index + 1),
});
const toTasks = (count: number, k = 1): TaskRef[] =>
  Array.from({ length: count }, (_, index) => toTask(index + 1, k));
const rule = (change: Partial<PackingRule> & { attempts?: number; light?: boolean } = {}): PackingRule => ({
  packing: 'auto',
  taskConcurrency: 4,
  requests: [{ light: change.light ?? true, attempts: change.attempts ?? 100 }],
  ...change,
});
const sizes = (tasks: readonly TaskRef[], how: PackingRule) =>
  packTasks(tasks, how).map((pack) => pack.tasks.length);

test.each([
  ['light and more than 4 x taskConcurrency', rule({ attempts: 17 }), true],
  ['light and just 4 x taskConcurrency', rule({ attempts: 16 }), false],
  ['heavy', rule({ light: false }), false],
  ['packing off', rule({ packing: 'off' }), false],
  ['an unknown request', rule({ requests: [] }), false],
])('%s: packed is %s', (_, how, expected) => {
  expect(isPacked(how, 0)).toBe(expected);
});

test('light tasks share a workflow by 25, attempts by 200, heavy ones have one each', () => {
  expect(sizes(toTasks(60), rule())).toEqual([25, 25, 10]);
  expect(sizes(toTasks(7, 60), rule())).toEqual([3, 3, 1]);
  expect(sizes(toTasks(2, 300), rule())).toEqual([1, 1]);
  expect(sizes(toTasks(3), rule({ light: false }))).toEqual([1, 1, 1]);
  expect(sizes([], rule())).toEqual([]);
});

test('packs never hold tasks of two requests', () => {
  const tasks = [toTask(1), toTask(2), toTask(3, 1, 1), toTask(4, 1, 1)];
  const requests = [
    { light: true, attempts: 50 },
    { light: true, attempts: 50 },
  ];
  expect(sizes(tasks, rule({ requests }))).toEqual([2, 2]);
});

test('every task is in exactly one pack, in order, whatever the sizes', () => {
  const task = fc.record({ k: fc.integer({ min: 1, max: 250 }), request: fc.constantFrom(0, 1, 2) });
  fc.assert(
    fc.property(
      fc.array(task, { maxLength: 80 }),
      fc.integer({ min: 1, max: 20 }),
      (list, taskConcurrency) => {
        const tasks = list.map((one, index) => toTask(index + 1, one.k, one.request));
        const requests = [0, 1, 2].map((index) => ({ light: index !== 1, attempts: 60 }));
        const packs = packTasks(tasks, { packing: 'auto', taskConcurrency, requests });
        expect(packs.flatMap((pack) => pack.tasks)).toEqual(tasks);
        for (const pack of packs) {
          expect(pack.attempts).toBe(pack.tasks.reduce((sum, one) => sum + one.attempts.length, 0));
          expect(pack.tasks.length === 1 || pack.attempts <= 200).toBe(true);
        }
      },
    ),
  );
});
