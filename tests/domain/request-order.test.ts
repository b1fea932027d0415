import { expect, test } from 'vitest';
import { findNextToPrepare, listFinal, type RequestStand } from '../../src/domain/request-order.ts';

const waiting = (pending: number): RequestStand => ({ preparation: 'waiting', pending, active: 0 });
const going = (pending: number, active = 0): RequestStand => ({ preparation: 'done', pending, active });
const failed: RequestStand = { preparation: 'failed', pending: 7, active: 0 };

test('AC-O1 of requests of 10, 3 and 5 tasks under 4 places each is prepared when it is due, event by event', () => {
  expect(findNextToPrepare([waiting(10), waiting(3), waiting(5)], 4)).toBe(0);
  for (const pending of [10, 9, 6, 5, 4])
    expect(findNextToPrepare([going(pending), waiting(3), waiting(5)], 4)).toBeNull();
  expect(findNextToPrepare([going(3), waiting(3), waiting(5)], 4)).toBe(1);
  for (const pending of [3, 2, 1])
    expect(findNextToPrepare([going(pending), going(3), waiting(5)], 4)).toBeNull();
  expect(findNextToPrepare([going(0), going(3), waiting(5)], 4)).toBe(2);
  expect(findNextToPrepare([going(0), going(3), going(5)], 4)).toBeNull();
});

test('a request that failed in preparation holds no later one up', () => {
  expect(findNextToPrepare([failed, waiting(3)], 4)).toBe(1);
  expect(listFinal([failed, going(0)])).toEqual([0, 1]);
});

test('AC-O4 a request without tasks is final once every earlier one has nothing left to start', () => {
  expect(listFinal([going(1, 2), going(0)])).toEqual([]);
  expect(listFinal([waiting(1), going(0)])).toEqual([]);
  expect(listFinal([going(0, 2), going(0)])).toEqual([1]);
  expect(listFinal([going(0), going(0, 1), going(2, 1)])).toEqual([0]);
});
