import type pg from 'pg';
import { expect } from 'vitest';
import type { RateLine } from '../../src/domain/rate-line.ts';

/** Lets time pass in the line of an engine: what is stored lies further back. */
export const letPass = (pool: pg.Pool, { engineId, ms }: { engineId: string; ms: number }) =>
  Promise.all([
    pool.query(
      `update engine_rates set requests_ms = case when requests_ms > 0 then requests_ms - $2 else 0 end, tokens_ms = case when tokens_ms > 0 then tokens_ms - $2 else 0 end where engine_id = $1`,
      [engineId, ms],
    ),
    pool.query(
      'update engine_rate_runs set taken_ms = case when taken_ms > 0 then taken_ms - $2 else 0 end, next_ms = case when next_ms > 0 then next_ms - $2 else 0 end where engine_id = $1',
      [engineId, ms],
    ),
    pool.query(
      'update booked_starts set start_ms = case when start_ms > 0 then start_ms - $2 else 0 end where engine_id = $1',
      [engineId, ms],
    ),
  ]);

/** Another run that has booked up to a time. */
export async function addOther(
  pool: pg.Pool,
  { engineId, nextMs }: { engineId: string; nextMs: number },
): Promise<void> {
  await pool.query(
    `insert into engine_rate_runs values ($1, 'other', $2, $2)
     on conflict (engine_id, run_id) do update set taken_ms = $2, next_ms = $2`,
    [engineId, nextMs],
  );
}

/** What the store keeps of an engine's line, in the model's form and time. */
export async function loadLine(
  pool: pg.Pool,
  { engineId, passedMs }: { engineId: string; passedMs: number },
): Promise<RateLine> {
  const { rows: lines } = await pool.query('select * from engine_rates where engine_id = $1', [engineId]);
  const { rows: runs } = await pool.query('select * from engine_rate_runs where engine_id = $1', [engineId]);
  const { rows: calls } = await pool.query('select * from booked_starts where engine_id = $1', [engineId]);
  const [line] = lines;
  const inModelTime = (ms: number): number => (ms > 0 ? ms + passedMs : 0);
  return {
    requestsAtMs: inModelTime(line.requests_ms),
    tokensAtMs: inModelTime(line.tokens_ms),
    tokenShare: line.token_share,
    tokenSamples: line.token_samples,
    runs: Object.fromEntries(
      runs.map((run) => [
        run.run_id,
        { takenMs: inModelTime(run.taken_ms), nextMs: inModelTime(run.next_ms) },
      ]),
    ),
    bookings: Object.fromEntries(
      calls.map((one) => [
        String(one.task),
        { startMs: inModelTime(one.start_ms), paid: one.paid, tokens: Number(one.tokens) },
      ]),
    ),
  };
}

/** The two clocks are read one after the other. */
const atAbout = (ms: number) => expect.closeTo(ms, -3);

export function expectSameLine(stored: RateLine, line: RateLine): void {
  const { runs, bookings } = line;
  expect(stored).toEqual({
    requestsAtMs: atAbout(line.requestsAtMs),
    tokensAtMs: atAbout(line.tokensAtMs),
    tokenShare: expect.closeTo(line.tokenShare, 6),
    tokenSamples: line.tokenSamples,
    runs: Object.fromEntries(
      Object.entries(runs).map(([id, { takenMs, nextMs }]) => [
        id,
        { takenMs: atAbout(takenMs), nextMs: atAbout(nextMs) },
      ]),
    ),
    bookings: Object.fromEntries(
      Object.entries(bookings).map(([call, one]) => [call, { ...one, startMs: atAbout(one.startMs) }]),
    ),
  });
}
