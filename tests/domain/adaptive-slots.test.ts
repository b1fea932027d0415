import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adaptSlots, START_SLOTS, type SlotEvent, type SlotState } from '../../src/domain/adaptive-slots.ts';

const look = (atMs: number, peakUsed: number): SlotEvent => ({ kind: 'look', atMs, peakUsed });
const throttled = (atMs: number): SlotEvent => ({ kind: 'throttled', atMs });
const at = (limit: number, rest: Partial<SlotState> = {}): SlotState => ({ ...START_SLOTS, limit, ...rest });

test.each([
  ['20 at first', START_SLOTS, look(0, 3), 20],
  ['a quarter more while all are used', at(20), look(0, 20), 25],
  ['nearly all used is all used', at(40), look(0, 38), 50],
  ['no more than used', at(40), look(0, 37), 40],
  ['never above 100', at(90), look(0, 90), 100],
  ['a fifth less on a 429', at(20), throttled(0), 16],
  ['at least one less', at(2), throttled(0), 1],
  ['never below 1', at(1), throttled(0), 1],
  ['one slot grows to two', at(1), look(0, 1), 2],
  ['at most one cut in 15 s', at(20, { cutAtMs: 0 }), throttled(14_999), 20],
  ['the next cut after 15 s', at(20, { cutAtMs: 0 }), throttled(15_000), 16],
  ['no growth soon after a 429', at(20, { throttledAtMs: 0 }), look(9_999, 20), 20],
  ['growth by one near what was too much', at(20, { throttledAtMs: 0 }), look(10_000, 20), 21],
  ['no growth soon after a cut', at(20, { throttledAtMs: 0, cutAtMs: 0 }), look(14_999, 20), 20],
  ['slow steps lie 5 s apart', at(20, { throttledAtMs: 0, changedAtMs: 11_000 }), look(15_999, 20), 20],
  ['fast again a minute later', at(20, { throttledAtMs: 0, changedAtMs: 59_000 }), look(60_000, 20), 25],
] as const)('%s', (...[, state, event, limit]) => {
  const decided = adaptSlots(state, event);
  expect(decided.state.limit).toBe(limit);
  expect(decided.change === null).toBe(limit === state.limit);
});

test('every change says from what to what and why, and stays between 1 and 100, one cut in 15 s', () => {
  const step = fc.record({
    waitMs: fc.nat({ max: 4_000 }),
    event: fc.oneof(fc.constant('throttled' as const), fc.nat({ max: 110 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      let state: SlotState = START_SLOTS;
      let now = 0;
      let lastCutMs = -Infinity;
      for (const { waitMs, event } of steps) {
        now += waitMs;
        const before = state.limit;
        const decided = adaptSlots(state, event === 'throttled' ? throttled(now) : look(now, event));
        state = decided.state;
        expect(state.limit).toBeGreaterThanOrEqual(1);
        expect(state.limit).toBeLessThanOrEqual(100);
        const { change } = decided;
        expect(change === null ? before : change.to).toBe(state.limit);
        const isCut = state.limit < before;
        expect(isCut && now - lastCutMs < 15_000).toBe(false);
        expect(isCut && event !== 'throttled').toBe(false);
        if (isCut) lastCutMs = now;
      }
    }),
  );
});

test('the slots settle near what a provider bears', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 90 }), (bears) => {
      let state: SlotState = START_SLOTS;
      const seen: number[] = [];
      for (let now = 0; now < 900_000; now += 2_000) {
        const isOver = state.limit > bears;
        state = adaptSlots(state, isOver ? throttled(now) : look(now, state.limit)).state;
        if (now > 400_000) seen.push(state.limit);
      }
      const mean = seen.reduce((sum, one) => sum + one, 0) / seen.length;
      expect(mean).toBeGreaterThan(0.7 * bears - 1);
      expect(mean).toBeLessThan(1.05 * bears + 1);
    }),
  );
});
