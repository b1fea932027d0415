import { distance } from 'fastest-levenshtein';
import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quote, scored, unscored } from './verdict.ts';

const options = z.strictObject({
  method: z
    .enum(['edit', 'tokens'])
    .default('tokens')
    .describe(
      'tokens: F1 of the words that both have, order left out. edit: 1 - edit distance / length of the longer text.',
    ),
  ignoreCase: z.boolean().default(true).describe('Take upper and lower case as equal.'),
  ignorePunctuation: z
    .boolean()
    .default(false)
    .describe('Leave out punctuation and symbols; `tokens` always does.'),
});

type Options = z.infer<typeof options>;

/** Texts are compared as a whole while the worker waits: beyond these lengths they are refused. */
const MAX_EDIT_STEPS = 4e8;
const MAX_TOKEN_CHARACTERS = 200_000;

/**
 * How close the answer is to the target, the closest of a list: by edit distance (Levenshtein 1966, in UTF-16 units,
 * white space collapsed), or by the F1 of shared words (SQuAD, Rajpurkar et al. 2016), cut by Unicode's rules so that
 * scripts without spaces have words too. Passes from 0.8 unless a threshold is given. Embeddings: `defineSimilarity`.
 */
export const similarity: Scorer = {
  kind: 'similarity',
  options,
  place: 'local',
  threshold: 0.8,
  needsTarget: () => true,
  score: async (input) => judge(input),
};

function judge(input: ScoreInput): ScorerVerdict {
  const targets = (input.target?.values ?? []).map(toTargetText);
  if (targets.length === 0) return noTarget('similarity');
  const settings = options.parse(input.options);
  const problem = findTooLong(input.answer, targets, settings);
  if (problem !== null) return unscored('too_long', problem);
  const compare = settings.method === 'edit' ? compareLetters : compareWords;
  const answer = normalise(input.answer, settings);
  const values = targets.map((target) => compare(answer, normalise(target, settings)));
  const value = Math.max(...values);
  const closest = targets[values.indexOf(value)] ?? '';
  const said = input.answer.trim() === '' ? 'the answer is empty' : `got ${quote(input.answer)}`;
  return scored({
    value,
    threshold: input.threshold,
    explanation: `${value.toFixed(2)} like ${quote(closest)}: ${said}`,
    metrics: { similarity: value },
  });
}

function findTooLong(answer: string, targets: readonly string[], { method }: Options): string | null {
  const longest = Math.max(...targets.map((target) => target.length));
  if (method === 'edit' && answer.length * longest > MAX_EDIT_STEPS)
    return `${answer.length} and ${longest} characters are too long for an edit distance: use "method: tokens"`;
  if (method === 'tokens' && answer.length + longest > MAX_TOKEN_CHARACTERS)
    return `${answer.length} and ${longest} characters are too long, at most ${MAX_TOKEN_CHARACTERS} together`;
  return null;
}

function normalise(text: string, settings: Options): string {
  const cased = settings.ignoreCase ? text.toLowerCase() : text;
  const plain = settings.ignorePunctuation ? cased.replaceAll(/[\p{P}\p{S}]/gu, '') : cased;
  return plain.normalize('NFC').replaceAll(/\s+/g, ' ').trim();
}

function compareLetters(answer: string, target: string): number {
  const longest = Math.max(answer.length, target.length);
  return longest === 0 ? 1 : 1 - distance(answer, target) / longest;
}

/** F1 of two bags of words; two texts without words are alike only when they are equal. */
function compareWords(answer: string, target: string): number {
  const [own, wanted] = [countWords(answer), countWords(target)];
  const [ownCount, wantedCount] = [total(own), total(wanted)];
  if (ownCount === 0 || wantedCount === 0) return Number(answer === target);
  let shared = 0;
  for (const [word, count] of own) shared += Math.min(count, wanted.get(word) ?? 0);
  return (2 * shared) / (ownCount + wantedCount);
}

const WORDS = new Intl.Segmenter('en', { granularity: 'word' });

function countWords(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { segment, isWordLike } of WORDS.segment(text)) {
    if (isWordLike === true) counts.set(segment, (counts.get(segment) ?? 0) + 1);
  }
  return counts;
}

const total = (counts: ReadonlyMap<string, number>): number =>
  counts.values().reduce((sum, count) => sum + count, 0);
