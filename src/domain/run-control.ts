/**
 * Steering of a run that goes on: pause, and limits that are set while it runs. Pure state and checks;
 * the run's workflow holds the state and carries it when it continues as new.
 */
export type RunControlState = {
  /** Running attempts of the run, as set last. */
  readonly taskConcurrency: number;
  readonly timeoutMs: number | null;
  readonly startedAtMs: number;
  /** Sum of the pauses that are over. */
  readonly pausedMs: number;
  readonly pause: Pause | null;
};

export type Pause = { readonly sinceMs: number; readonly by: string | null; readonly note: string | null };

/** Who says something to a run, and why: both optional, for people to read. */
export type Sender = { readonly by?: string; readonly note?: string };

/** New limits. What is absent stays. Caps on spending may only be raised. */
export type LimitChanges = Sender & {
  readonly taskConcurrency?: number;
  /** By id of a provider of the run file, or of an engine: calls in flight per worker; auto = adaptive. */
  readonly slots?: { readonly [engine: string]: number | 'auto' };
  /** By kind of environment: open sessions of each host, for all runs; auto = as its worker is set. */
  readonly sessions?: { readonly [kind: string]: number | 'auto' };
  readonly maxRunUsd?: number;
  readonly maxModelUsd?: number;
  readonly maxRunTokens?: number;
  /** Of the whole run, from its start and without its pauses; null = none. */
  readonly timeoutMs?: number | null;
};

/** Null while the run is paused, and without a time limit. */
export const toDeadlineMs = ({ timeoutMs, startedAtMs, pausedMs, pause }: RunControlState): number | null =>
  timeoutMs === null || pause !== null ? null : startedAtMs + pausedMs + timeoutMs;

export function endPause(state: RunControlState, nowMs: number): RunControlState {
  if (state.pause === null) return state;
  return { ...state, pause: null, pausedMs: state.pausedMs + Math.max(0, nowMs - state.pause.sinceMs) };
}

export const describePause = ({ by, note }: Omit<Pause, 'sinceMs'>): string =>
  `paused${by === null ? '' : ` by ${by}`}${note === null ? '' : `: ${note}`}`;

const MAX_TEXT = 500;

/** Who and why as they are kept: a plain text each, or null. */
export const toSender = ({
  by,
  note,
}: Sender): { readonly by: string | null; readonly note: string | null } => ({
  by: cut(by),
  note: cut(note),
});

const cut = (text: string | undefined): string | null => {
  const flat = (text ?? '').toWellFormed().replaceAll(/\s+/g, ' ').trim();
  return flat === '' ? null : flat.slice(0, MAX_TEXT);
};

/** What is wrong with a message to a run, which anybody may have sent, or null. */
export function findSenderProblem(input: unknown): string | null {
  if (input === undefined || input === null) return null;
  if (!isRecord(input))
    return `expected an object such as { "by": "ana", "note": "why" }, got ${show(input)}`;
  return findKeyProblem(input, ['by', 'note']) ?? findTextProblem(input);
}

/** What is wrong with new limits, or null. */
export function findLimitProblem(input: unknown): string | null {
  if (!isRecord(input)) return `expected an object such as { "taskConcurrency": 8 }, got ${show(input)}`;
  const problem = findKeyProblem(input, [...LIMITS, 'by', 'note']) ?? findTextProblem(input);
  if (problem !== null) return problem;
  if (LIMITS.every((name) => input[name] === undefined))
    return `nothing to set: expected ${LIMITS.join(', ')}`;
  return (
    findCountProblem('taskConcurrency', input['taskConcurrency'], MAX_CONCURRENCY) ??
    findAmountProblem('maxRunUsd', input['maxRunUsd']) ??
    findAmountProblem('maxModelUsd', input['maxModelUsd']) ??
    findCountProblem('maxRunTokens', input['maxRunTokens'], Number.MAX_SAFE_INTEGER) ??
    (input['timeoutMs'] === null
      ? null
      : findCountProblem('timeoutMs', input['timeoutMs'], Number.MAX_SAFE_INTEGER)) ??
    findSlotsProblem('slots', input['slots']) ??
    findSlotsProblem('sessions', input['sessions'])
  );
}

const LIMITS = [
  'taskConcurrency',
  'slots',
  'sessions',
  'maxRunUsd',
  'maxModelUsd',
  'maxRunTokens',
  'timeoutMs',
];
/** What each of them is named by. */
const NAMED_BY = { slots: 'provider', sessions: 'environment' } as const;
const MAX_CONCURRENCY = 100_000;
const MAX_SLOTS = 10_000;

type Fields = { readonly [name: string]: unknown };

const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function findKeyProblem(input: Fields, known: readonly string[]): string | null {
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  return unknown === undefined ? null : `${unknown}: expected one of ${known.join(', ')}`;
}

function findTextProblem(input: Fields): string | null {
  const wrong = ['by', 'note'].find((key) => input[key] !== undefined && typeof input[key] !== 'string');
  return wrong === undefined ? null : `${wrong}: expected a text, got ${show(input[wrong])}`;
}

function findCountProblem(name: string, value: unknown, max: number): string | null {
  if (value === undefined) return null;
  const fits = typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= max;
  return fits ? null : `${name}: expected a whole number from 1 to ${max}, got ${show(value)}`;
}

function findAmountProblem(name: string, value: unknown): string | null {
  if (value === undefined) return null;
  const fits = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return fits ? null : `${name}: expected an amount in USD from 0, got ${show(value)}`;
}

function findSlotsProblem(limit: keyof typeof NAMED_BY, slots: unknown): string | null {
  if (slots === undefined) return null;
  const by = NAMED_BY[limit];
  if (!isRecord(slots)) return `${limit}: expected { "<${by}>": <number or "auto"> }, got ${show(slots)}`;
  for (const [name, value] of Object.entries(slots)) {
    const problem = value === 'auto' ? null : findCountProblem(`${limit}.${name}`, value, MAX_SLOTS);
    if (problem !== null) return `${problem} (or "auto")`;
  }
  return Object.keys(slots).length === 0 ? `${limit}: expected at least one ${by}` : null;
}

const show = (value: unknown): string => (JSON.stringify(value) ?? 'nothing').slice(0, 100);
