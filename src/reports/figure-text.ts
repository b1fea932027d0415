import type { Figures } from './figure-schema.ts';

/** Two digits behind the point: `0.82`. */
export const toScoreText = (value: number): string => value.toFixed(2);

/** A whole per cent; never 0 % or 100 % for what is only close to it. */
export function toPercentText(share: number): string {
  const percent = Math.round(share * 100);
  if (percent === 0 && share > 0) return '<1%';
  if (percent === 100 && share < 1) return '>99%';
  return `${percent}%`;
}

/** US dollars with two digits that count; `?` = unknown, never 0. */
export function toCostText(costUsd: number | null): string {
  if (costUsd === null) return '$?';
  if (costUsd === 0) return '$0';
  if (costUsd < 0.0001) return '<$0.0001';
  const digits = costUsd >= 1 ? 2 : Math.min(4, 1 - Math.floor(Math.log10(costUsd)));
  return `$${costUsd.toFixed(costUsd >= 1_000 ? 0 : digits)}`;
}

/** What was spent: where some of it is not known, at least what is. */
export function toSpentText({ costUsd, knownCostUsd }: Pick<Figures, 'costUsd' | 'knownCostUsd'>): string {
  return costUsd === null && knownCostUsd > 0 ? `≥ ${toCostText(knownCostUsd)}` : toCostText(costUsd);
}

/** Milliseconds as `350ms`, `1.2s`, `3m 5s`. */
export function toDurationText(durationMs: number): string {
  if (durationMs < 999.5) return `${Math.round(durationMs)}ms`;
  if (durationMs < 59_950) return `${(durationMs / 1000).toFixed(1)}s`;
  const seconds = Math.round(durationMs / 1000);
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes}m ${seconds % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** Counts as `950`, `12k`, `4.5M`. */
export function toCountText(count: number): string {
  if (count < 1_000) return String(count);
  const [scale, unit] = count < 999_500 ? [1_000, 'k'] : [1_000_000, 'M'];
  const scaled = count / scale;
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

export const toTokens = ({ inputTokens, outputTokens }: Figures['usage']): number | null =>
  inputTokens === null && outputTokens === null ? null : (inputTokens ?? 0) + (outputTokens ?? 0);
