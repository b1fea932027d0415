import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { SLOT_PACE, type SlotChange } from '../../src/domain/adaptive-slots.ts';
import { EngineSlots } from '../../src/worker/engine-slots.ts';

const opened: EngineSlots[] = [];
afterEach(() => {
  for (const slots of opened.splice(0)) slots.close();
});

function openSlots(concurrency: number | 'auto', pace = SLOT_PACE) {
  const changes: SlotChange[] = [];
  const slots = new EngineSlots({ concurrency, pace, onChange: (change) => changes.push(change) });
  opened.push(slots);
  const never = new AbortController().signal;
  /** Takes a slot and uses it; null = none was free within a moment. */
  const take = async () => {
    const ended = new AbortController();
    const permit = await Promise.race([slots.reserveSlot({}, ended.signal), sleep(20)]).catch(
      () => undefined,
    );
    if (permit === undefined) {
      ended.abort(new Error('tried long enough'));
      return null;
    }
    slots.markSlotUsed({ permit });
    return permit;
  };
  return { slots, changes, take, reserve: () => slots.reserveSlot({}, never) };
}

test('no more slots than wished are out, and a released one goes to who waits first', async () => {
  const { slots, take, reserve } = openSlots(2);
  const [first] = [await take(), await take()];
  expect(await take()).toBeNull();
  const order: string[] = [];
  const waits = [reserve().then(() => order.push('a')), reserve().then(() => order.push('b'))];
  slots.releaseSlot({ permit: first ?? {} });
  await waits[0];
  expect(order).toEqual(['a']);
  slots.setConcurrency(3);
  await waits[1];
  expect(order).toEqual(['a', 'b']);
});

test('a lower wish takes nothing away, and hands out none until so many are back', async () => {
  const { slots, take } = openSlots(3);
  const out = [await take(), await take(), await take()];
  slots.setConcurrency(1);
  for (const permit of out.slice(0, 2)) {
    slots.releaseSlot({ permit: permit ?? {} });
    expect(await take()).toBeNull();
  }
  slots.releaseSlot({ permit: out[2] ?? {} });
  expect(await take()).not.toBeNull();
});

test('a paused engine hands out none; the end of the pause and a shutdown end the wait', async () => {
  const { slots, take, reserve } = openSlots(5);
  slots.pause(60_000);
  expect(await take()).toBeNull();
  const shutdown = new AbortController();
  const waiting = slots.reserveSlot({}, shutdown.signal);
  const reason = new Error('the worker shuts down');
  shutdown.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await expect(slots.reserveSlot({}, shutdown.signal)).rejects.toBe(reason);
  const later = reserve();
  slots.pause(30);
  expect(slots.tryReserveSlot()).toBeNull();
  expect(await later).toBeDefined();
  slots.pause(60_000);
  slots.pause(0);
  expect(slots.tryReserveSlot()).not.toBeNull();
});

test('a throttled call cuts the slots by a fifth and its slot rests', async () => {
  const { slots, changes } = openSlots('auto', { ...SLOT_PACE, restMs: 40 });
  slots.noteThrottle();
  slots.noteThrottle();
  expect(changes).toEqual([{ from: 20, to: 16, reason: 'the provider throttles (429)' }]);
  const count = () => {
    const permits = [];
    for (let permit = slots.tryReserveSlot(); permit !== null; permit = slots.tryReserveSlot())
      permits.push(permit);
    return permits.length;
  };
  expect(count()).toBe(14);
  await sleep(80);
  expect(count()).toBe(2);
});

test('slots grow while all are used', async () => {
  const { slots, changes, take } = openSlots('auto', { ...SLOT_PACE, lookEveryMs: 10 });
  for (let slot = 0; slot < 20; slot += 1) await take();
  await expect.poll(() => changes[0]).toMatchObject({ from: 20, to: 25 });
  expect(await take()).not.toBeNull();
  expect(slots.limit).toBe(25);
});

test('a call that no task brings borrows a slot although polls wait for tasks, and is counted beside them', async () => {
  const { slots, take, reserve } = openSlots(2);
  const never = new AbortController().signal;
  await Promise.all([reserve(), reserve()]);
  const [giveBack] = await Promise.all([slots.borrow(never), slots.borrow(never)]);
  const cut = new AbortController();
  const third = slots.borrow(cut.signal);
  const fourth = slots.borrow(never);
  cut.abort(new Error('left'));
  await expect(third).rejects.toThrow('left');
  giveBack();
  giveBack();
  (await fourth)();
  expect(await take()).toBeNull();
});

test('a task that a waiting poll brings while its slot is lent waits until one is given back', async () => {
  const { slots, reserve } = openSlots(2);
  const never = new AbortController().signal;
  const [first, second] = await Promise.all([reserve(), reserve()]);
  const lent = await Promise.all([slots.borrow(never), slots.borrow(never)]);
  for (const permit of [first, second]) slots.markSlotUsed({ permit });
  const order: string[] = [];
  const entered = slots.enter(never).then(() => order.push('entered'));
  const cut = new AbortController();
  const left = slots.enter(cut.signal);
  cut.abort(new Error('left'));
  await expect(left).rejects.toThrow('left');
  slots.releaseSlot({ permit: second });
  const borrowed = slots.borrow(never).then(() => order.push('borrowed'));
  await sleep(20);
  expect(order).toEqual([]);
  lent[0]();
  await entered;
  await sleep(20);
  expect(order).toEqual(['entered']);
  lent[1]();
  await borrowed;
  slots.releaseSlot({ permit: first });
  expect(order).toEqual(['entered', 'borrowed']);
});

test('a paused engine lends no slot until the end of the pause', async () => {
  const { slots } = openSlots(5);
  slots.pause(60_000);
  let lent = false;
  const borrowed = slots.borrow(new AbortController().signal).then(() => (lent = true));
  await sleep(20);
  expect(lent).toBe(false);
  slots.pause(0);
  await borrowed;
});
