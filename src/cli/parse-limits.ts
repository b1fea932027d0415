import { parseDurationMs } from '../domain/duration.ts';
import { findNearest } from '../config/nearest.ts';
import type { LimitChanges } from '../domain/run-control.ts';
import { UsageError } from './usage-error.ts';

const KEYS = [
  'taskConcurrency',
  'slots.<provider>',
  'sessions.<environment>',
  'maxRunUsd',
  'maxModelUsd',
  'maxRunTokens',
  'timeout',
];
/** Several of them go together, each with a name of its own. */
const GROUPS = ['slots', 'sessions'] as const;
const NUMBERS = ['taskConcurrency', 'maxRunUsd', 'maxModelUsd', 'maxRunTokens'];

/** Limits as `assay set RUN key=value...` takes them. Throws a UsageError that names the word. */
export function parseLimits(words: readonly string[]): LimitChanges {
  const groups: { [group in (typeof GROUPS)[number]]?: { [name: string]: number | 'auto' } } = {};
  const limits: { [name: string]: number | null | object } = {};
  for (const word of words) {
    const split = word.indexOf('=');
    const [key, value] = [word.slice(0, Math.max(0, split)), word.slice(split + 1)];
    if (key === '') throw new UsageError(`"${word}": expected key=value, such as taskConcurrency=8.`);
    const group = GROUPS.find((name) => key.startsWith(`${name}.`));
    if (group !== undefined)
      groups[group] = {
        ...groups[group],
        [key.slice(group.length + 1)]: value === 'auto' ? 'auto' : toNumber(word, value),
      };
    else if (key === 'timeout') limits['timeoutMs'] = value === 'none' ? null : toDuration(word, value);
    else if (NUMBERS.includes(key)) limits[key] = toNumber(word, value);
    else throw new UsageError(describeUnknown(key));
  }
  return { ...limits, ...groups };
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
  const near = findNearest(key, [...NUMBERS, 'timeout', 'slots.', 'sessions.']);
  return `There is no limit "${key}"${near === null ? '' : ` (did you mean ${near}?)`}. Limits that can be set: ${KEYS.join(', ')}.`;
}
