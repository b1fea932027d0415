import type { WidthPoint } from './width-points.ts';

/** When a width is good enough. Shares are from 0 to 1. */
export type WidthRule = {
  /** How much longer than the quickest width that is allowed. */
  readonly slack: number;
  readonly maxErrorRate: number;
  readonly maxRetryRate: number;
};

export const WIDTH_RULE: WidthRule = { slack: 0.1, maxErrorRate: 0.01, maxRetryRate: 0.05 };

/** A suite's points, by its name. */
export type Curve = { readonly suite: string; readonly points: readonly WidthPoint[] };

export type Recommendation = {
  /** Null when no width keeps both rates. */
  readonly width: number | null;
  /** The allowed width with the smallest median; what `width` is compared with. */
  readonly best: number | null;
  /** Widths that are out, and why. */
  readonly refused: readonly { readonly width: number; readonly reason: string }[];
};

/**
 * The smallest width whose wall clock is within `slack` of the best one, among the widths that keep both rates: beyond
 * it a run gains little, and a provider that throttles is already pressed. Several curves are judged as one: their
 * medians are added, and a width must keep the rates in each. `auto` is no candidate. A width that a curve has no
 * point of is none either.
 */
export function recommendWidth(curves: readonly Curve[], rule: WidthRule = WIDTH_RULE): Recommendation {
  const widths = [...new Set(curves.flatMap(({ points }) => points.map(({ width }) => width)))]
    .filter((width) => width !== 'auto')
    .toSorted((a, b) => a - b);
  const judged = widths.map((width) => judge(width, curves, rule));
  const allowed = judged.filter(({ reason }) => reason === null);
  const bestSeconds = Math.min(...allowed.map(({ seconds }) => seconds));
  return {
    width: allowed.find(({ seconds }) => seconds <= bestSeconds * (1 + rule.slack))?.width ?? null,
    best: allowed.find(({ seconds }) => seconds === bestSeconds)?.width ?? null,
    refused: judged.flatMap(({ width, reason }) => (reason === null ? [] : [{ width, reason }])),
  };
}

function judge(width: number, curves: readonly Curve[], rule: WidthRule) {
  const found = curves.map(({ suite, points }) => ({
    suite,
    point: points.find((point) => point.width === width),
  }));
  const reasons = found.map(({ suite, point }) => findReason(point, rule, suite));
  return {
    width,
    seconds: found.reduce((sum, { point }) => sum + (point?.medianSeconds ?? 0), 0),
    reason: reasons.find((reason) => reason !== null) ?? null,
  };
}

function findReason(point: WidthPoint | undefined, rule: WidthRule, suite: string): string | null {
  if (point === undefined) return `${suite} was not run at it`;
  if (point.errorRate > rule.maxErrorRate)
    return `${suite}: ${toPercent(point.errorRate)} of the cells have no score`;
  if (point.retryRate > rule.maxRetryRate)
    return `${suite}: ${toPercent(point.retryRate)} of the requests were refused or failed`;
  return null;
}

export const toPercent = (share: number): string => `${(share * 100).toFixed(1)} %`;
