import { z } from 'zod';

const UNIT_MS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/;
const MAX_MS = 24 * 3_600_000;

/** Options are stored as checked and checked again when they are used: milliseconds are taken as well. */
export const duration = z
  .union([
    z.int().min(1).max(MAX_MS),
    z.string().regex(DURATION, 'expected a duration such as 250ms, 30s, 10m or 2h').transform(toMs),
  ])
  .pipe(z.int().min(1).max(MAX_MS));

function toMs(text: string): number {
  const [, amount, unit] = DURATION.exec(text) ?? [];
  return Math.round(Number(amount) * (UNIT_MS[unit ?? ''] ?? Number.NaN));
}
