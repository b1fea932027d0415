import { z } from 'zod';
import type { JudgeOpinion } from '../domain/judge.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { PASS_OR_FAIL, scaleSchema } from './judge-scale.ts';
import type { Scorer } from './scorer.ts';
import { scored, unscored } from './verdict.ts';

export const judgeOptions = z
  .strictObject({
    rubric: z.string().regex(/\S/, 'a rubric cannot be empty').describe('By what the answer is judged.'),
    reference: z
      .enum(['auto', 'required', 'none'])
      .default('auto')
      .describe("Whether judges see the case's target: auto = where it has one."),
    scale: scaleSchema
      .default(PASS_OR_FAIL)
      .describe('The verdicts: { choices: { good: 1, fair: 0.5, poor: 0 } } or { min: 0, max: 10 }.'),
    judges: z
      .array(z.string())
      .min(1)
      .exactOptional()
      .describe('Ids of judges of the run; all of them unless given.'),
    combine: z
      .enum(['majority', 'mean'])
      .default('majority')
      .describe(
        'Of several judges: the verdict of most (of numbers the middle one), a tie is the lower; or the mean.',
      ),
    maxAnswerCharacters: z
      .int()
      .min(1)
      .max(10_000_000)
      .default(100_000)
      .describe('A longer answer is not sent to judges, and has no score from them.'),
  })
  .superRefine(({ judges }, context) => {
    if (judges === undefined || new Set(judges).size === judges.length) return;
    context.addIssue({ code: 'custom', path: ['judges'], message: 'a judge stands twice' });
  });

export type JudgeOptions = z.output<typeof judgeOptions>;

/**
 * Models judge the answer by a rubric. They are asked before the attempt is recorded; this makes one verdict of what
 * they said. More than half of them must have said something, or there is no score.
 */
export const judge: Scorer = {
  kind: 'judge',
  options: judgeOptions,
  place: 'judge',
  threshold: 0.7,
  needsTarget: ({ reference }) => reference === 'required',
  score: async ({ options, opinions = [], threshold }) =>
    combine(opinions, { threshold, options: judgeOptions.parse(options) }),
};

type Given = Extract<JudgeOpinion, { kind: 'verdict' }>;

function combine(
  opinions: readonly JudgeOpinion[],
  { threshold, options }: { readonly threshold: number; readonly options: JudgeOptions },
): ScorerVerdict {
  const given = opinions.filter((one) => one.kind === 'verdict');
  if (opinions.length === 0) return unscored('no_opinion', 'no judge was asked');
  if (given.length * 2 <= opinions.length) return explainSilence(opinions, given.length);
  const { value, because } = options.combine === 'mean' ? toMean(given) : toMajority(given, options);
  const spoken = because.verdict;
  const votes =
    opinions.length === 1
      ? spoken
      : `${opinions.map(describe).join(', ')}: ${toWords(value, spoken, options)}`;
  const reason = because.reason.replaceAll(/\s+/gu, ' ').trim();
  return scored({
    value,
    threshold,
    explanation: reason === '' ? votes : `${votes}. ${reason}`,
    metrics: {
      verdict: options.combine === 'mean' ? null : spoken,
      judges: opinions.map((one) => ({
        judge: one.judge,
        verdict: one.kind === 'verdict' ? one.verdict : null,
        ...(one.kind === 'none' ? { code: one.code } : {}),
      })),
    },
  });
}

const describe = (one: JudgeOpinion): string =>
  `${one.judge} ${one.kind === 'verdict' ? one.verdict : `(${one.code})`}`;

const toWords = (value: number, verdict: string, options: JudgeOptions): string =>
  options.combine === 'mean' ? `mean ${value.toFixed(2)}` : verdict;

type Decided = {
  readonly value: number;
  /** The opinion whose reason is shown. */
  readonly because: Given;
};

function toMean(given: readonly Given[]): Decided {
  const value = given.reduce((sum, one) => sum + one.value, 0) / given.length;
  const because = given.toSorted((a, b) => Math.abs(a.value - value) - Math.abs(b.value - value))[0];
  if (because === undefined) throw new Error('no judge gave a verdict');
  return { value: Math.min(1, Math.max(0, value)), because };
}

/** Of a menu what most say, of a range the middle; of an even split the lower. */
function toMajority(given: readonly Given[], { scale }: JudgeOptions): Decided {
  const sorted = given.toSorted((a, b) => a.value - b.value);
  const counts = Map.groupBy(sorted, ({ verdict }) => verdict);
  const most = [...counts.values()].toSorted((a, b) => b.length - a.length)[0];
  const because = 'choices' in scale ? most?.[0] : sorted[Math.floor((sorted.length - 1) / 2)];
  if (because === undefined) throw new Error('no judge gave a verdict');
  return { value: because.value, because };
}

function explainSilence(opinions: readonly JudgeOpinion[], given: number): ScorerVerdict {
  const silent = opinions.filter((one) => one.kind === 'none');
  const [only] = silent;
  if (opinions.length === 1 && only !== undefined)
    return unscored(only.code, `judge ${only.judge}: ${only.message}`);
  const whys = silent.map(({ judge: id, message }) => `${id}: ${message.slice(0, 500)}`);
  return unscored('no_quorum', `${given} of ${opinions.length} judges gave a verdict; ${whys.join('; ')}`);
}
