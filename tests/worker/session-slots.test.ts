import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { byLead } from '../../src/worker/environment-workers.ts';
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

test('AC-L2 a rate of 0 is none', async () => {
  const slots = new SessionSlots({ capacity: 1_000, opensPerSecond: 0 });
  const startedAt = performance.now();
  for (let count = 0; count < 500; count += 1) {
    await slots.reserveSlot(null, never);
    slots.markSlotUsed();
  }
  expect(performance.now() - startedAt).toBeLessThan(5_000);
  expect(slots.tryReserveSlot()).not.toBeNull();
});

test('AC-L11 who waits first is served first, and one that gave up leaves no gap', async () => {
  const slots = new SessionSlots({ capacity: 1, opensPerSecond: 0 });
  await slots.reserveSlot(null, never);
  const served: string[] = [];
  const leaving = new AbortController();
  const wait = (name: string, signal = never): Promise<unknown> =>
    slots.reserveSlot(null, signal).then(
      () => served.push(name),
      () => undefined,
    );
  const all = [wait('first'), wait('leaves', leaving.signal), wait('second'), wait('third')];
  leaving.abort(new Error('it gave up'));
  for (const _ of ['first', 'second', 'third']) {
    slots.releaseSlot();
    await delay(1);
  }
  await Promise.all(all);
  expect(served).toEqual(['first', 'second', 'third']);
});

test('while a kind cannot be opened here, its sessions wait at the server; once it can they come', async () => {
  const slots = new SessionSlots({ capacity: 2, opensPerSecond: 0 });
  slots.setAvailable(false);
  expect(slots.tryReserveSlot()).toBeNull();
  let served = false;
  const waiting = slots.reserveSlot(null, never).then(() => (served = true));
  await delay(5);
  expect(served).toBe(false);
  slots.setAvailable(true);
  await waiting;
  expect(served).toBe(true);
});

test('a poll that waits for a place gives up when its worker ends', async () => {
  const slots = new SessionSlots({ capacity: 1, opensPerSecond: 0 });
  await slots.reserveSlot(null, never);
  const ending = new AbortController();
  const waiting = slots.reserveSlot(null, ending.signal);
  ending.abort(new Error('the worker ends'));
  await expect(waiting).rejects.toThrow('the worker ends');
});

test('AC-L10 a capacity that is lowered while it is in use gives nothing out before less is out, and one that is raised gives at once', async () => {
  const slots = new SessionSlots({ capacity: 4, opensPerSecond: 0 });
  for (const name of ['a', 'b', 'c', 'd']) {
    await slots.reserveSlot(null, never);
    slots.hold(name);
    slots.releaseSlot();
  }
  slots.setLimits({ capacity: 2, opensPerSecond: 0 });
  let served = 0;
  const waiting = [1, 2, 3, 4].map(() => slots.reserveSlot(null, never).then(() => (served += 1)));
  slots.free('a');
  slots.free('b');
  await delay(1);
  expect(served).toBe(0);
  slots.free('c');
  await waiting[0];
  expect(served).toBe(1);
  slots.setLimits({ capacity: 5, opensPerSecond: 0 });
  await Promise.all(waiting);
  expect(served).toBe(4);
});

test('of two workers of a host the one that leads opens', async () => {
  const slots = new SessionSlots({ capacity: 2, opensPerSecond: 0 }, { leads: false });
  expect(slots.tryReserveSlot()).toBeNull();
  slots.setLeads(true);
  expect(slots.tryReserveSlot()).not.toBeNull();
  slots.setLeads(false);
  expect(slots.tryReserveSlot()).toBeNull();
});

test('a task that comes after another worker of the host took the lead goes back to the server', async () => {
  const slots = new SessionSlots({ capacity: 2, opensPerSecond: 0 });
  const open = byLead(slots, (name: string) => Promise.resolve(`opened ${name}`));
  expect(await open('one')).toBe('opened one');
  slots.setLeads(false);
  await expect(open('two')).rejects.toMatchObject({ type: 'ComeBack', nextRetryDelay: 1_000 });
});
