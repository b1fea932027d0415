import * as z from 'zod';
import { DURATION_PATTERN, parseDurationMs } from '../domain/duration.ts';
import type { Json, JsonObject } from '../domain/json.ts';

/** Message of a shape that `checkShape` turns into "expected ..., got ...". */
export const EXPECTED = 'must be ';

const expecting = (what: string) => ({ error: `${EXPECTED}${what}` });

/** A map without other keys than these. */
export const object = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `${EXPECTED}one of ${Object.keys(shape).join(', ')}` : undefined,
  });

export const text = z.string();
export const name = z.string().regex(/\S/, expecting('a text that is not empty'));

const DURATION = 'a duration such as 250ms, 30s, 10m or 2h';

/** `250ms`, `30s`, `10m`, `2h` as milliseconds. */
export const duration = z
  .string(expecting(DURATION))
  .regex(DURATION_PATTERN, expecting(DURATION))
  .transform(parseDurationMs)
  .pipe(z.number().max(2 ** 31 - 1, expecting('a duration of at most 24 days')));

export const positiveDuration = duration.pipe(z.number().min(1, expecting('a duration above zero')));

/** A whole number from 1. */
export const count = z.int().min(1).max(1_000_000_000);
/** A whole number from 0. */
export const countOrZero = z.int().min(0).max(1_000_000_000_000);
/** An amount of money, a weight: finite, from 0. */
export const amount = z.number().min(0);
/** A share, 0..1. */
export const rate = z.number().min(0).max(1);

/** A map of any JSON; that it is JSON is the parser's care. */
export const jsonObject = z.record(z.string(), z.unknown()).transform((value) => value as JsonObject);
export const jsonValue = z.unknown().transform((value) => value as Json);

export const variableName = z
  .string()
  .regex(/^\$?\{?[A-Za-z_][A-Za-z0-9_]*\}?$/, expecting('the name of an environment variable, not a key'))
  .transform((value) => value.replace(/[${}]/g, ''));

/** A suite written in place of a path; read as a suite file is. */
export const inlineSuite = z.record(z.string(), z.unknown());

/** Caps of one attempt as files write them. */
export const attemptLimits = object({
  attemptTime: positiveDuration.nullable().optional(),
  attemptTokens: count.nullable().optional(),
  attemptCostUsd: amount.nullable().optional(),
  modelCallTime: positiveDuration.nullable().optional(),
});

/** One scorer: its kind alone, or a map of its kind, Assay's own keys, and the options of that kind. */
export const scorerEntry = z.union([
  z.string(),
  z.looseObject({
    kind: z.string(),
    name: name.optional(),
    weight: amount.optional(),
    threshold: rate.optional(),
    required: z.boolean().optional(),
    not: z.boolean().optional().describe('Passes when the scorer itself would not.'),
  }),
]);
export type ScorerEntry = z.output<typeof scorerEntry>;
