import type pg from 'pg';
import { expect } from 'vitest';
import type { Health, TripReason } from '../../src/domain/breaker.ts';

/** Moves everything that is known of an engine's health into the past. */
export const letHealthPass = (pool: pg.Pool, { engineId, ms }: { engineId: string; ms: number }) =>
  pool.query(
    `update engine_health set alive_at = alive_at - ago, tripped_at = tripped_at - ago,
       half_open_at = half_open_at - ago, recovered_at = recovered_at - ago, probe_until = probe_until - ago
     from (select $2 * interval '1 millisecond' as ago) passed where engine_id = $1`,
    [engineId, ms],
  );

type StoredHealth = {
  readonly alive: number | null;
  readonly tripped: boolean;
  readonly reason: TripReason;
  readonly half_open: number | null;
  readonly trips: number;
  readonly recovered: number | null;
  readonly exhausted: number;
  readonly probe: string | null;
  readonly until: number | null;
};

/** Compares the row of an engine with the model's health, in the model's time. */
export async function expectSameHealth(
  pool: pg.Pool,
  { engineId, passedMs }: { engineId: string; passedMs: number },
  health: Health,
): Promise<void> {
  const ms = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
  const { rows } = await pool.query<StoredHealth>(
    `select ${ms('alive_at')} as alive, tripped_at is not null as tripped, reason, ${ms('half_open_at')} as half_open,
       trips, ${ms('recovered_at')} as recovered, exhausted, probe, ${ms('probe_until')} as until
     from engine_health where engine_id = $1 and role = 'agent'`,
    [engineId],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('no health is stored');
  const near = (stored: number | null, wanted: number | null): void => {
    if (stored === null || wanted === null) expect(stored).toBe(wanted);
    else expect(Math.abs(stored + passedMs - wanted)).toBeLessThan(2_000);
  };
  near(row.alive, health.aliveAtMs);
  expect(row.tripped ? row.reason : null).toBe(health.trip?.reason ?? null);
  near(row.half_open, health.trip?.halfOpenAtMs ?? null);
  near(row.recovered, health.recoveredAtMs);
  near(row.until, health.probe?.untilMs ?? null);
  expect([row.trips, row.exhausted, row.probe?.split('/')[1] ?? null]).toEqual([
    health.trips,
    health.exhausted,
    health.probe?.call ?? null,
  ]);
}
