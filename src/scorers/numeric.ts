import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import { readNumbers, toPlainText } from './number-reading.ts';
import type { NumberStyle } from './number-reading.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quote, scored, unscored } from './verdict.ts';

const options = z.strictObject({
  tolerance: z.number().min(0).default(0).describe('Largest absolute difference that still counts as equal.'),
  relativeTolerance: z
    .number()
    .min(0)
    .default(0)
    .describe('Largest difference as a share of the target: 0.01 = one percent. The wider tolerance holds.'),
  select: z
    .enum(['answer', 'first', 'last'])
    .default('answer')
    .describe(
      'Which number counts. answer: the one marked by "Answer:", "the answer is", \\boxed{} or ####, else the last.',
    ),
  percent: z
    .enum(['ignore', 'divide'])
    .default('ignore')
    .describe('What a percent sign means, in answers and targets. ignore: 85% is 85. divide: 85% is 0.85.'),
  decimal: z
    .enum(['point', 'comma'])
    .default('point')
    .describe('Decimal mark of answers and of targets that are text. comma: 1.234,5 is 1234.5.'),
});

type Options = z.infer<typeof options>;

/**
 * The number in the answer equals the target within the tolerances (a list of targets = any of them).
 * Thousands may be separated in groups of three; `3/4` and `\frac{3}{4}` are quotients; `2.5e3` and
 * `2.5 x 10^3` are powers of ten. Without tolerance only the rounding of double precision is forgiven.
 */
export const numeric: Scorer = {
  kind: 'numeric',
  options,
  place: 'local',
  needsTarget: () => true,
  score: async (input) => judge(input),
};

function judge(input: ScoreInput): ScorerVerdict {
  const settings = options.parse(input.options);
  const values = input.target?.values ?? [];
  if (values.length === 0) return noTarget('numeric');
  const targets = values.map((value) =>
    typeof value === 'number' ? value : readTarget(toTargetText(value), settings),
  );
  const bad = targets.indexOf(null);
  if (bad >= 0) {
    const text = quote(toTargetText(values[bad] ?? ''));
    return unscored('bad_target', `the target ${text} is not one number: correct the case`);
  }
  return compare({ input, settings, targets: targets.filter((target) => target !== null) });
}

function readTarget(text: string, settings: Options): number | null {
  const numbers = readNumbers(toPlainText(text), toStyle(settings));
  return numbers.length === 1 ? (numbers[0] ?? null) : null;
}

type Comparison = {
  readonly input: ScoreInput;
  readonly settings: Options;
  readonly targets: readonly number[];
};

function compare({ input, settings, targets }: Comparison): ScorerVerdict {
  const found = selectNumber(input.answer, settings);
  const expected = targets.join(' or ');
  if (found === null) {
    const what = input.answer.trim() === '' ? 'the answer is empty' : 'no number in the answer';
    return scored({ value: 0, threshold: input.threshold, explanation: `${what}, expected ${expected}` });
  }
  const isEqual = targets.some((target) => isClose(found, target, settings));
  const difference = Math.min(...targets.map((target) => Math.abs(found - target)));
  const sign =
    !isEqual && input.answer.includes('%') ? ' (a percent sign is read as the option percent says)' : '';
  return scored({
    value: isEqual ? 1 : 0,
    threshold: input.threshold,
    explanation: isEqual ? `${found} equals ${expected}` : `expected ${expected}, got ${found}${sign}`,
    metrics: Number.isFinite(difference) ? { number: found, difference } : { number: found },
  });
}

/** Of a hostile answer only the last few marks are read. */
const READ_MARKS = 20;

/** Marks of a final answer. The last one that has a number behind it counts. */
const MARK = /(?:\banswer\b\s*(?:is\b|[:=])[\s:]*|####|\\boxed\s*\{)/giu;

function selectNumber(answer: string, settings: Options): number | null {
  const style = toStyle(settings);
  if (settings.select === 'answer') {
    const starts = Array.from(answer.matchAll(MARK), (mark) => mark.index + mark[0].length);
    for (const start of starts.slice(-READ_MARKS).toReversed()) {
      const marked = readNumbers(toPlainText(toMarkedPart(answer, start)), style)[0];
      if (marked !== undefined) return marked;
    }
  }
  const numbers = readNumbers(toPlainText(answer), style);
  return (settings.select === 'first' ? numbers[0] : numbers.at(-1)) ?? null;
}

/** The first line with text after a mark, or the rest of the braces of `\boxed{`. */
function toMarkedPart(answer: string, start: number): string {
  const rest = answer.slice(start, start + 1_000).trimStart();
  return rest.split('\n', 1)[0] ?? '';
}

const toStyle = (settings: Options): NumberStyle => ({
  decimal: settings.decimal,
  percent: settings.percent,
});

function isClose(value: number, target: number, settings: Options): boolean {
  const rounding = 4 * Number.EPSILON * Math.max(Math.abs(value), Math.abs(target));
  const allowed = Math.max(settings.tolerance, settings.relativeTolerance * Math.abs(target), rounding);
  return Math.abs(value - target) <= allowed + rounding;
}
