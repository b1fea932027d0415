import { z } from 'zod';

const share = z.number().min(0).max(1);

export const scaleSchema = z
  .union([
    z.strictObject({
      choices: z
        .record(z.string().regex(/\S/, 'a verdict cannot be empty'), share)
        .describe('The menu: each verdict with its value from 0 to 1.'),
    }),
    z.strictObject({ min: z.number(), max: z.number() }).describe('A number; min is worth 0 and max 1.'),
  ])
  .superRefine((scale, context) => {
    const message = findProblem(scale);
    if (message !== null) context.addIssue({ code: 'custom', path: [], message });
  });

/** Which verdicts there are: a menu with values, or a range of numbers. */
export type Scale = z.output<typeof scaleSchema>;

export const PASS_OR_FAIL: Scale = { choices: { pass: 1, fail: 0 } };

export type Verdict = { readonly verdict: string; readonly value: number };

/**
 * A verdict of the scale, or null: nothing is clamped, divided or guessed. On a range a number, the same as text, and,
 * where the range begins at 0, `n/max` and a percentage.
 */
export function readVerdict(scale: Scale, given: unknown): Verdict | null {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean') return null;
  if (!('choices' in scale)) return readNumber(scale, given);
  const wanted = fold(String(given));
  const entry = Object.entries(scale.choices).find(([name]) => fold(name) === wanted);
  return entry === undefined ? null : { verdict: entry[0], value: entry[1] };
}

/** The scale as a judge is told it. */
export const describeScale = (scale: Scale): string =>
  'choices' in scale
    ? `exactly one of ${Object.keys(scale.choices)
        .map((name) => JSON.stringify(name))
        .join(', ')}`
    : `a number from ${scale.min} to ${scale.max}`;

/** A verdict as an example of the form. */
export const toExample = (scale: Scale): string | number =>
  'choices' in scale ? (Object.keys(scale.choices)[0] ?? '') : scale.max;

function findProblem(scale: Scale): string | null {
  if (!('choices' in scale)) return scale.min < scale.max ? null : 'max must be greater than min';
  const names = Object.keys(scale.choices).map(fold);
  if (names.length < 2) return 'a menu needs at least two verdicts';
  return new Set(names).size === names.length ? null : 'two verdicts differ in nothing but their case';
}

const NUMBER = '[+-]?(?:\\d+(?:\\.\\d+)?|\\.\\d+)';

function readNumber(
  { min, max }: { readonly min: number; readonly max: number },
  given: string | number | boolean,
): Verdict | null {
  const text = bare(String(given));
  const plain = new RegExp(`^${NUMBER}(?:e[+-]?\\d+)?$`, 'i').test(text) ? Number(text) : null;
  const found = plain ?? (min === 0 ? readShare(text, max) : null);
  if (found === null || typeof given === 'boolean' || !(found >= min && found <= max)) return null;
  return { verdict: String(found), value: (found - min) / (max - min) };
}

/** `8/10` where 10 is the highest, `85%` of it. */
function readShare(text: string, max: number): number | null {
  const parts = new RegExp(`^(${NUMBER})\\s*/\\s*(${NUMBER})$`).exec(text);
  if (parts !== null) return Number(parts[2]) === max ? Number(parts[1]) : null;
  const percent = new RegExp(`^(${NUMBER})\\s*%$`).exec(text);
  return percent === null ? null : (Number(percent[1]) / 100) * max;
}

const bare = (text: string): string =>
  text
    .normalize('NFKC')
    .trim()
    .replaceAll(/^[\s"'“”‘’`*_]+|[\s"'“”‘’`*_]+$/gu, '')
    .replace(/\.$/u, '')
    .replaceAll(/[\s"'“”‘’`*_]+$/gu, '');

const fold = (text: string): string => bare(text).replaceAll(/\s+/gu, ' ').toLowerCase();
