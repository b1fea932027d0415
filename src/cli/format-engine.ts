import type { EngineState } from '../store/engine-state.ts';
import { TRIP_WORDS } from '../domain/engine-sign.ts';
import { countOf, formatMoment } from './format.ts';

/** How an engine is paced now, in one line. */
export function formatEngine(engine: EngineState): string {
  const { requestsPerMinute, tokensPerMinute, waiting, pausedUntil, pauseReason } = engine;
  const parts = [
    formatTrip(engine),
    formatSlots(engine),
    requestsPerMinute === null ? null : `${requestsPerMinute} requests a minute`,
    tokensPerMinute === null ? null : `${tokensPerMinute} tokens a minute`,
    waiting === 0 ? null : `${countOf(waiting, 'call')} waiting for them`,
    pausedUntil === null ? null : `paused until ${formatMoment(pausedUntil)}: ${pauseReason ?? ''}`,
  ];
  return `Engine ${engine.engineId}: ${parts.filter((part) => part !== null).join(', ')}`;
}

/** What has opened its breaker, and until when. */
function formatTrip({ trip }: EngineState): string | null {
  if (trip === null) return null;
  const whose = trip.role === 'judge' ? 'down for judges' : 'down';
  const until = trip.until === null ? '' : `, asked once more at ${formatMoment(trip.until)}`;
  return `${whose}: ${TRIP_WORDS[trip.reason]} (${trip.message})${until}`;
}

function formatSlots({ concurrency, slots }: EngineState): string {
  if (concurrency !== 'auto') return `${countOf(Number(concurrency), 'slot')} a worker`;
  return slots.length === 0 ? 'slots auto (20 at first)' : `slots auto (now ${slots.join(' + ')})`;
}
