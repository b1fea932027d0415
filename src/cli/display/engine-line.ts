import { toPrintable } from '../../reports/terminal-text.ts';
import type { EngineLoad } from '../../store/run-load.ts';
import { formatCount, formatDuration } from '../format.ts';
import { fitEnd, fitMiddle } from './text-width.ts';

const NAME_WIDTH = 28;

/**
 * One engine on one line, what holds it back first: `api.example.com  paused until 10:32:05 (busy) · 8 in flight ·
 * slots 12 (auto)`.
 */
export function formatEngineLine(
  engine: EngineLoad,
  { width, missingKeys }: { readonly width: number; readonly missingKeys: readonly string[] },
): string {
  const name = fitMiddle(nameEngine(engine), Math.min(NAME_WIDTH, Math.floor(width / 3)));
  const facts = [
    ...listWaits(engine, missingKeys),
    `${engine.inFlight} in flight`,
    toSlots(engine),
    ...listRates(engine),
  ];
  return fitEnd(`${name}  ${facts.join(' · ')}`, width);
}

/** As people know it: the host, else its kind. */
function nameEngine({ kind, baseUrl }: EngineLoad): string {
  if (baseUrl === null) return kind;
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl;
}

function listWaits(engine: EngineLoad, missingKeys: readonly string[]): readonly string[] {
  const waits: string[] = [];
  const { apiKeyEnv, pausedUntil, pauseReason, waitingForRate, nextStartMs, waitingForRetry, trip } = engine;
  if (apiKeyEnv !== null && missingKeys.includes(apiKeyEnv)) waits.push(`waits for ${apiKeyEnv}`);
  if (trip !== null) {
    const until = trip.until === null ? '' : ` until ${toClock(new Date(trip.until))}`;
    waits.push(`down${until} (${fitEnd(toPrintable(trip.message), 30)})`);
  }
  if (pausedUntil !== null) {
    const because = pauseReason === null ? '' : ` (${fitEnd(toPrintable(pauseReason), 30)})`;
    waits.push(`paused until ${toClock(new Date(pausedUntil))}${because}`);
  }
  if (waitingForRate > 0)
    waits.push(`${waitingForRate} wait for the rate, next in ${formatDuration(nextStartMs ?? 0)}`);
  if (waitingForRetry > 0) waits.push(`${waitingForRetry} to retry`);
  return waits;
}

const toSlots = ({ concurrency, slots }: EngineLoad): string =>
  concurrency !== 'auto' ? `slots ${concurrency}` : slots === null ? 'slots auto' : `slots ${slots} (auto)`;

function listRates({ requestsPerMinute, tokensPerMinute }: EngineLoad): readonly string[] {
  return [
    ...(requestsPerMinute === null ? [] : [`${formatCount(requestsPerMinute)} requests/min`]),
    ...(tokensPerMinute === null ? [] : [`${formatCount(tokensPerMinute)} tokens/min`]),
  ];
}

/** `10:32:05`, in the time zone of this machine. */
const toClock = (moment: Date): string =>
  [moment.getHours(), moment.getMinutes(), moment.getSeconds()]
    .map((value) => String(value).padStart(2, '0'))
    .join(':');
