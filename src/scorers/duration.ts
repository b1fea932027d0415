import { z } from 'zod';
import { DURATION_PATTERN, parseDurationMs } from '../domain/duration.ts';

const MAX_MS = 24 * 3_600_000;

/** Options are stored as checked and checked again when they are used: milliseconds are taken as well. */
export const duration = z
  .union([
    z.int().min(1).max(MAX_MS),
    z
      .string()
      .regex(DURATION_PATTERN, 'expected a duration such as 250ms, 30s, 10m or 2h')
      .transform(parseDurationMs),
  ])
  .pipe(z.int().min(1).max(MAX_MS));
