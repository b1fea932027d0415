import { expect, test } from 'vitest';
import { idleStopMs, shouldStopIdle } from '../../src/local/idle-stop.ts';

const thisWorker = { pid: 7, startTime: '100', bootId: 'b' };
const unused = { idleSinceMs: 1000, openRuns: 0, clients: 0, recordedWorker: thisWorker, thisWorker };

test.each([
  ['an open run', { ...unused, openRuns: 1 }],
  ['a connected client', { ...unused, clients: 1 }],
])('%s keeps the stack running and starts the count again', (_name, use) => {
  expect(shouldStopIdle(use, 1000 + 2 * idleStopMs)).toEqual({ kind: 'go_on', idleSinceMs: null });
});

test('the count begins at the first look without use', () => {
  expect(shouldStopIdle({ ...unused, idleSinceMs: null }, 5000)).toEqual({
    kind: 'go_on',
    idleSinceMs: 5000,
  });
});

test('the stack stops after 15 idle minutes and not before', () => {
  expect(shouldStopIdle(unused, 1000 + idleStopMs - 1)).toEqual({ kind: 'go_on', idleSinceMs: 1000 });
  expect(shouldStopIdle(unused, 1000 + idleStopMs)).toEqual({ kind: 'stop_stack' });
});

test('a clock that was set back starts the count again', () => {
  expect(shouldStopIdle({ ...unused, idleSinceMs: 9000 }, 4000)).toEqual({
    kind: 'go_on',
    idleSinceMs: 4000,
  });
});

test.each([
  ['is gone', null],
  ['names another worker', { ...thisWorker, pid: 8 }],
  ['names an earlier process with this number', { ...thisWorker, startTime: '99' }],
])('a worker ends alone when the stack file %s', (_name, recordedWorker) => {
  expect(shouldStopIdle({ ...unused, recordedWorker, openRuns: 3 }, 2000)).toEqual({ kind: 'stop_worker' });
});
