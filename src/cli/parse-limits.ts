import { parseDurationMs } from '../domain/duration.ts';
import { findNearest } from '../config/nearest.ts';
import type { LimitChanges } from '../domain/run-control.ts';
import { UsageError } from './usage-error.ts';

const KEYS = ['taskConcurrency', 'slots.<provider>', 'maxRunUsd', 'maxModelUsd', 'maxRunTokens', 'timeout'];
const NUMBERS = ['taskConcurrency', 'maxRunUsd', 'maxModelUsd', 'maxRunTokens'];

/** Limits as `assay set RUN key=value...` takes them. Throws a UsageError that names the word. */
export function parseLimits(words: readonly string[]): LimitChanges {
  const slots: { [provider: string]: number | 'auto' } = {};
  const limits: { [name: string]: number | null | object } = {};
  for (const word of words) {
    const split = word.indexOf('=');
    const [key, value] = [word.slice(0, Math.max(0, split)), word.slice(split + 1)];
    if (key === '') throw new UsageError(`"${word}": expected key=value, such as taskConcurrency=8.`);
    if (key.startsWith('slots.'))
      slots[key.slice('slots.'.length)] = value === 'auto' ? 'auto' : toNumber(word, value);
    else if (key === 'timeout') limits['timeoutMs'] = value === 'none' ? null : toDuration(word, value);
    else if (NUMBERS.includes(key)) limits[key] = toNumber(word, value);
    else throw new UsageError(describeUnknown(key));
  }
  return Object.keys(slots).length === 0 ? limits : { ...limits, slots };
}

function toNumber(word: string, value: string): number {
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value);
  throw new UsageError(`"${word}": expected a number, got "${value}".`);
}

function toDuration(word: string, value: string): number {
  const durationMs = parseDurationMs(value);
  if (durationMs > 0) return durationMs;
  throw new UsageError(`"${word}": expected a duration such as 30m or 2h, or none; got "${value}".`);
}

function describeUnknown(key: string): string {
  const near = findNearest(key, [...NUMBERS, 'timeout', 'slots.']);
  return `There is no limit "${key}"${near === null ? '' : ` (did you mean ${near}?)`}. Limits that can be set: ${KEYS.join(', ')}.`;
}
