import type { EngineState } from '../store/engine-state.ts';
import { countOf, formatMoment } from './format.ts';

/** How an engine is paced now, in one line. */
export function formatEngine(engine: EngineState): string {
  const { requestsPerMinute, tokensPerMinute, waiting, pausedUntil, pauseReason } = engine;
  const parts = [
    formatSlots(engine),
    requestsPerMinute === null ? null : `${requestsPerMinute} requests a minute`,
    tokensPerMinute === null ? null : `${tokensPerMinute} tokens a minute`,
    waiting === 0 ? null : `${countOf(waiting, 'call')} waiting for them`,
    pausedUntil === null ? null : `paused until ${formatMoment(pausedUntil)}: ${pauseReason ?? ''}`,
  ];
  return `Engine ${engine.engineId}: ${parts.filter((part) => part !== null).join(', ')}`;
}

function formatSlots({ concurrency, slots }: EngineState): string {
  if (concurrency !== 'auto') return `${countOf(Number(concurrency), 'slot')} a worker`;
  return slots.length === 0 ? 'slots auto (20 at first)' : `slots auto (now ${slots.join(' + ')})`;
}
