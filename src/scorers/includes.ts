import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quoteList, scored, unscored } from './verdict.ts';

const options = z.strictObject({
  mode: z
    .enum(['any', 'all'])
    .default('any')
    .describe('any: one of the target texts is enough. all: the value is the share of them that is found.'),
  ignoreCase: z.boolean().default(true).describe('Take upper and lower case as equal.'),
});

/** The answer contains the target text, or one of (`any`) or each of (`all`) a list of them. */
export const includes: Scorer = {
  kind: 'includes',
  options,
  place: 'local',
  needsTarget: () => true,
  score: async (input) => judge(input),
};

function judge(input: ScoreInput): ScorerVerdict {
  const targets = (input.target?.values ?? []).map(toTargetText);
  if (targets.length === 0) return noTarget('includes');
  const { mode, ignoreCase } = options.parse(input.options);
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text).normalize('NFC');
  if (targets.includes('')) {
    return unscored('empty_target', 'the target is an empty text, which every answer includes: give a text');
  }
  const answer = fold(input.answer);
  const found = targets.filter((target) => answer.includes(fold(target)));
  const missing = targets.filter((target) => !found.includes(target));
  const isEnough = mode === 'any' ? found.length > 0 : missing.length === 0;
  return scored({
    value: mode === 'any' ? Number(isEnough) : found.length / targets.length,
    threshold: input.threshold,
    explanation: explain({ answer: input.answer, found, missing, isEnough }),
    metrics: { found: found.length, targets: targets.length },
  });
}

function explain(judged: {
  readonly answer: string;
  readonly found: readonly string[];
  readonly missing: readonly string[];
  readonly isEnough: boolean;
}): string {
  if (judged.isEnough) return `includes ${quoteList(judged.found)}`;
  if (judged.answer.trim() === '') return `the answer is empty, expected ${quoteList(judged.missing)} in it`;
  return `does not include ${quoteList(judged.missing)}`;
}
