import type { TripReason } from '../domain/breaker.ts';
import { unescapeText } from './text.ts';

/** An engine whose breaker is open. */
export type EngineTrip = {
  readonly reason: TripReason;
  /** `judge`: the calls of judges alone. */
  readonly role: 'agent' | 'judge';
  readonly message: string;
  /** When it is asked once more, ISO 8601 in UTC; null = once somebody resumes a run. */
  readonly until: string | null;
};

export type StoredTrip = Omit<EngineTrip, 'until'> & { readonly untilMs: number | null };

/** The trip of engine `e`, agents' first, as JSON; null = its breaker is closed. */
export const TRIP = `(select json_build_object('reason', h.reason, 'role', h.role, 'message', h.message,
    'untilMs', extract(epoch from h.half_open_at) * 1000)
  from engine_health h where h.engine_id = e.engine_id and h.tripped_at is not null order by h.role limit 1)`;

export function toTrip(stored: StoredTrip | null): EngineTrip | null {
  if (stored === null) return null;
  const { untilMs, message, ...trip } = stored;
  const until = untilMs === null ? null : new Date(untilMs).toISOString();
  return { ...trip, message: unescapeText(message), until };
}
