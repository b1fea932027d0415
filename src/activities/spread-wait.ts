import type { CallAdmission } from '../store/model-calls.ts';

const LONGEST_SPREAD_MS = 10_000;

/** Calls that wait for the end of one pause come back one after another; other waits end each at its own time. */
export function spreadWait(
  { waitMs, reason }: Extract<CallAdmission, { kind: 'wait' }>,
  random: number,
): number {
  if (reason !== 'engine_paused' && reason !== 'engine_down') return waitMs;
  return waitMs + random * Math.min(LONGEST_SPREAD_MS, 500 + waitMs / 10);
}
