import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import { readChoice, toLetter } from './choice-reading.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quote, scored, unscored } from './verdict.ts';

const options = z.strictObject({
  multiple: z
    .boolean()
    .default(false)
    .describe('The target is a list of letters that must be chosen all together, no more and no less.'),
});

/**
 * The answer chooses the target's option. Options are lettered A, B, ... in the order of the case's `choices`;
 * the target is a letter or the text of an option, a list = any of them (or all, with `multiple`).
 * The letter is read from, in this order: a line `Answer: B` or `\boxed{B}`; `the answer is B`; `option (B)`;
 * a first or last line that is an option. The last mention in the first kind that is present counts. Letters
 * beyond the options, words, and an answer that declines (`None of the above`) select nothing and score 0.
 */
export const choice: Scorer = {
  kind: 'choice',
  options,
  place: 'local',
  needsTarget: () => true,
  score: async (input) => judge(input),
};

const MAX_CHOICES = 26;

function judge(input: ScoreInput): ScorerVerdict {
  const { multiple } = options.parse(input.options);
  const choices = input.testCase.choices ?? [];
  if (choices.length > MAX_CHOICES) {
    return unscored('too_many_choices', `${choices.length} options, but there are 26 letters`);
  }
  const texts = (input.target?.values ?? []).map(toTargetText);
  if (texts.length === 0) return noTarget('choice');
  const letters = texts.map((text) => toLetter(text, choices));
  const bad = letters.indexOf(null);
  if (bad >= 0) {
    const text = quote(texts[bad] ?? '');
    return unscored('bad_target', `the target ${text} is neither a letter nor one of the options`);
  }
  const expected = letters.filter((letter) => letter !== null);
  return multiple ? judgeSet(input, expected) : judgeOne(input, expected);
}

function judgeOne(input: ScoreInput, expected: readonly string[]): ScorerVerdict {
  const chosen = readChoice(input.answer, input.testCase.choices ?? []);
  const only = chosen.letters.length === 1 ? chosen.letters[0] : undefined;
  const explanation =
    chosen.letters.length > 1
      ? `several options (${chosen.letters.join(', ')}) where one was expected: ${expected.join(' or ')}`
      : explain(input.answer, chosen.letters, expected.join(' or '));
  return conclude({
    input,
    chosen: chosen.letters,
    explanation,
    isRight: only !== undefined && expected.includes(only),
  });
}

function judgeSet(input: ScoreInput, expected: readonly string[]): ScorerVerdict {
  const wanted = [...new Set(expected)].toSorted();
  const chosen = readChoice(input.answer, input.testCase.choices ?? []).letters.toSorted();
  const explanation = explain(input.answer, chosen, wanted.join(', '));
  return conclude({ input, chosen, explanation, isRight: chosen.join() === wanted.join() });
}

function explain(answer: string, chosen: readonly string[], expected: string): string {
  if (answer.trim() === '') return `the answer is empty, expected ${expected}`;
  if (chosen.length === 0) return `no option could be read in ${quote(answer)}, expected ${expected}`;
  return `chose ${chosen.join(', ')}, expected ${expected}`;
}

function conclude(judged: {
  readonly input: ScoreInput;
  readonly chosen: readonly string[];
  readonly explanation: string;
  readonly isRight: boolean;
}): ScorerVerdict {
  const metrics: JsonObject = { chosen: judged.chosen };
  const { explanation, input } = judged;
  return scored({ value: judged.isRight ? 1 : 0, threshold: input.threshold, explanation, metrics });
}
