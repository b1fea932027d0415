const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** `250ms`, `30s`, `10m`, `2h`. */
export const DURATION_PATTERN = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;

/** Milliseconds of a duration as files write it; NaN when it is none. */
export function parseDurationMs(value: string): number {
  const [, amount, unit] = DURATION_PATTERN.exec(value) ?? [];
  return Math.round(Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN));
}
