import { expect, test } from 'vitest';
import { CallTimers } from '../../src/providers/call-timers.ts';

const LONG = { connectMs: 60_000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 60_000 };

/** The message of the first timer that fires. */
const expire = (limits: Partial<typeof LONG>, arrange: (timers: CallTimers) => void = () => {}) =>
  new Promise<string>((resolve) => {
    const timers = new CallTimers({ ...LONG, ...limits }, (error) => {
      timers.stop();
      resolve(error.message);
    });
    timers.start();
    arrange(timers);
  });

test('C16 C23 the timer that fires names itself, its limit, the time measured and the phase', async () => {
  expect(await expire({ connectMs: 20 })).toMatch(
    /^time-out while calling the model: timer "connect", limit 20 ms, measured \d+ ms, phase run, waiting for a connection$/,
  );
  expect(await expire({ connectMs: 1, firstByteMs: 20 }, (timers) => timers.sent())).toContain(
    'timer "first byte"',
  );
  const answered = (timers: CallTimers): void => {
    timers.sent();
    timers.answered();
  };
  expect(await expire({ connectMs: 1, firstByteMs: 1, idleMs: 20 }, answered)).toContain('timer "idle"');
  expect(await expire({ totalMs: 20 }, answered)).toContain('timer "total"');
});
