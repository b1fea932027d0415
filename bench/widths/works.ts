import type { Json, JsonObject } from '../../src/domain/json.ts';

/** What is run at each width: a suite as users have it, and how its harness works on it. */
export type Work = {
  readonly name: 'light' | 'tool-heavy';
  readonly cells: number;
  /** Model calls of a cell. */
  readonly callsPerCell: number;
  /** Of a simulated call, drawn by the request's number. */
  readonly latencyMs: readonly [number, number];
  readonly harness: JsonObject;
  readonly environment: Json;
  /** The answer is always 42, as the simulated endpoint gives it and a live model finds it. */
  readonly ask: (first: number, second: number) => string;
};

/** Latencies are a fifteenth of what such cells take in the field: 4.6 s a light one, 6.5 s a tool-heavy one. */
export const WORKS: readonly Work[] = [
  {
    name: 'light',
    cells: 33,
    callsPerCell: 1,
    latencyMs: [150, 450],
    harness: { kind: 'direct' },
    environment: 'none',
    ask: (first, second) => `What is ${first} + ${second}? Answer with the number alone.`,
  },
  {
    name: 'tool-heavy',
    cells: 13,
    callsPerCell: 3,
    latencyMs: [70, 210],
    harness: { kind: 'agent', tools: ['bash', 'submit'], maxSteps: 10 },
    environment: 'host',
    ask: (first, second) =>
      `Write ${first} + ${second} as one number into the file "answer" with bash, read it with a second command, then submit the number.`,
  },
];

export const toSuite = ({ name, cells, ask }: Work): JsonObject => ({
  name,
  scorers: ['exact'],
  cases: Array.from({ length: cells }, (_, index) => ({
    id: `case-${index + 1}`,
    input: ask(index + 1, 41 - index),
    target: '42',
  })),
});

export const WIDTHS = [1, 2, 4, 8, 16, 32] as const;

/** So many calls at a time; `auto` = what a run file gets that says nothing: 32 attempts, slots that adapt. */
export type Width = number | 'auto';

/** What the simulated provider lets through: a bucket of `burst` requests that fills by so many a second. */
export const RATE_LIMIT = { requestsPerSecond: 20, burst: 8, retryAfterSeconds: 1 } as const;

/** USD per million tokens, and the tokens of each simulated answer. */
export const PRICE = { input: 0.25, output: 2 } as const;
export const TOKENS = { input: 400, output: 150 } as const;

/** Seconds that no runner can beat: the calls one after another, `width` at a time, and the rate limit. */
export function toIdealSeconds({ cells, callsPerCell, latencyMs }: Work, width: Width): number {
  const atOnce = Math.min(cells, width === 'auto' ? 32 : width);
  const meanSeconds = (latencyMs[0] + latencyMs[1]) / 2_000;
  const waves = Math.ceil(cells / atOnce) * callsPerCell * meanSeconds;
  const limited = (cells * callsPerCell - RATE_LIMIT.burst) / RATE_LIMIT.requestsPerSecond;
  return Math.max(waves, limited);
}
