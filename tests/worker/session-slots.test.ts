import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SessionSlots } from '../../src/worker/session-slots.ts';

const never = new AbortController().signal;

test('a slot that opened a session stays taken until the session is closed', async () => {
  const slots = new SessionSlots({ capacity: 2, opensPerSecond: 0 });
  await slots.reserveSlot(null, never);
  await slots.reserveSlot(null, never);
  expect(slots.tryReserveSlot()).toBeNull();
  slots.hold('one');
  slots.releaseSlot();
  slots.releaseSlot();
  expect([slots.openCount, slots.tryReserveSlot() === null, slots.tryReserveSlot()]).toEqual([
    1,
    false,
    null,
  ]);
  let third = false;
  const waiting = slots.reserveSlot(null, never).then(() => (third = true));
  await delay(10);
  expect(third).toBe(false);
  slots.free('one');
  await waiting;
  expect(third).toBe(true);
});

test('a count from what is there keeps sessions that were opened since', () => {
  const slots = new SessionSlots({ capacity: 10, opensPerSecond: 0 });
  slots.hold('gone');
  slots.recount(['found'], Date.now() + 1_000);
  expect(slots.openCount).toBe(1);
  slots.hold('new');
  slots.recount(['found'], Date.now() - 1_000);
  expect(slots.openCount).toBe(2);
});

test('sessions open no faster than so many a second', async () => {
  const slots = new SessionSlots({ capacity: 10, opensPerSecond: 10 });
  const startedAt = performance.now();
  for (let count = 0; count < 4; count += 1) {
    await slots.reserveSlot(null, never);
    slots.markSlotUsed();
  }
  expect(performance.now() - startedAt).toBeGreaterThan(250);
});

test('a poll that waits for a place gives up when its worker ends', async () => {
  const slots = new SessionSlots({ capacity: 1, opensPerSecond: 0 });
  await slots.reserveSlot(null, never);
  const ending = new AbortController();
  const waiting = slots.reserveSlot(null, ending.signal);
  ending.abort(new Error('the worker ends'));
  await expect(waiting).rejects.toThrow('the worker ends');
});
