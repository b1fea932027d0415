import type { Width } from './works.ts';

/** One run of one suite at one width. */
export type WidthRun = {
  readonly width: Width;
  readonly seconds: number;
  readonly cells: number;
  /** Cells that ended without a score. */
  readonly unscored: number;
  /** Requests to the provider, and those of them that it refused or that failed. */
  readonly requests: number;
  readonly failedRequests: number;
  /** Null when a call has no known cost. */
  readonly costUsd: number | null;
};

/** All runs of one suite at one width; rates are over all of them together. */
export type WidthPoint = {
  readonly width: Width;
  readonly repeats: number;
  readonly medianSeconds: number;
  readonly lowSeconds: number;
  readonly highSeconds: number;
  /** Cells without a score, of all cells; 0 to 1. */
  readonly errorRate: number;
  /** Requests that were refused or failed, of all requests; 0 to 1. */
  readonly retryRate: number;
  readonly cells: number;
  readonly requests: number;
  /** Mean of a run; null when one is unknown. */
  readonly costUsd: number | null;
};

/** Points in the order of their first run. */
export const toPoints = (runs: readonly WidthRun[]): readonly WidthPoint[] =>
  [...Map.groupBy(runs, ({ width }) => width)].map(([width, own]) => toPoint(width, own));

function toPoint(width: Width, runs: readonly WidthRun[]): WidthPoint {
  const seconds = runs.map((run) => run.seconds).toSorted((a, b) => a - b);
  const cells = add(runs.map((run) => run.cells));
  const requests = add(runs.map((run) => run.requests));
  const costs = runs.map((run) => run.costUsd);
  return {
    width,
    repeats: runs.length,
    medianSeconds: toMedian(seconds),
    lowSeconds: seconds[0] ?? 0,
    highSeconds: seconds.at(-1) ?? 0,
    errorRate: add(runs.map((run) => run.unscored)) / Math.max(1, cells),
    retryRate: add(runs.map((run) => run.failedRequests)) / Math.max(1, requests),
    cells,
    requests,
    costUsd: costs.includes(null) ? null : add(costs.map((cost) => cost ?? 0)) / runs.length,
  };
}

/** Of sorted values. */
function toMedian(sorted: readonly number[]): number {
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}

const add = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
