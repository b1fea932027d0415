import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quote, quoteList, scored } from './verdict.ts';

const options = z.strictObject({
  trim: z.boolean().default(true).describe('Ignore white space at both ends.'),
  ignoreCase: z.boolean().default(false).describe('Take upper and lower case as equal.'),
  collapseSpaces: z.boolean().default(false).describe('Take each run of white space as one space.'),
  ignorePunctuation: z.boolean().default(false).describe('Leave out punctuation marks and symbols.'),
});

type Options = z.infer<typeof options>;

/**
 * The whole answer equals the target, or one of them when the target is a list.
 * Both sides are compared in Unicode's composed form (NFC) and changed as the options say.
 */
export const exact: Scorer = {
  kind: 'exact',
  options,
  place: 'local',
  needsTarget: () => true,
  score: async (input) => judge(input),
};

function judge(input: ScoreInput): ScorerVerdict {
  const targets = (input.target?.values ?? []).map(toTargetText);
  if (targets.length === 0) return noTarget('exact');
  const settings = options.parse(input.options);
  const answer = normalise(input.answer, settings);
  const isEqual = targets.some((target) => normalise(target, settings) === answer);
  const explanation = isEqual
    ? `equals ${quote(input.answer)}`
    : explainMiss(input.answer, targets, settings);
  return scored({ value: isEqual ? 1 : 0, threshold: input.threshold, explanation });
}

function normalise(text: string, settings: Options): string {
  let result = text.normalize('NFC');
  if (settings.ignoreCase) result = result.toLowerCase();
  if (settings.ignorePunctuation) result = result.replaceAll(/[\p{P}\p{S}]/gu, '');
  if (settings.collapseSpaces) result = result.replaceAll(/\s+/g, ' ');
  return settings.trim ? result.trim() : result;
}

/** Longer answers miss for other reasons than a comma, and each comparison reads them whole. */
const HINT_LIMIT_CHARACTERS = 10_000;

const LOOSER: readonly { readonly set: JsonObject; readonly hint: string }[] = [
  { set: { ignoreCase: true }, hint: 'differs only in case' },
  { set: { trim: true, collapseSpaces: true }, hint: 'differs only in white space' },
  {
    set: { trim: true, collapseSpaces: true, ignoreCase: true, ignorePunctuation: true },
    hint: 'differs only in case, spaces or punctuation',
  },
];

function explainMiss(answer: string, targets: readonly string[], settings: Options): string {
  if (answer.trim() === '') return `the answer is empty, expected ${quoteList(targets)}`;
  const said = `expected ${quoteList(targets)}, got ${quote(answer)}`;
  if (answer.length > HINT_LIMIT_CHARACTERS) return said;
  const near = LOOSER.find(({ set }) => {
    const looser = options.parse({ ...settings, ...set });
    return targets.some((target) => normalise(target, looser) === normalise(answer, looser));
  });
  return near === undefined ? said : `${said} (${near.hint})`;
}
