import { z } from 'zod';
import type { ScorerVerdict } from '../domain/score.ts';
import { toTargetText } from '../domain/suite.ts';
import { runInThread, ThreadTimeoutError } from './killable-thread.ts';
import type { ScoreInput, Scorer } from './scorer.ts';
import { noTarget, quote, quoteList, scored } from './verdict.ts';

const options = z
  .strictObject({
    pattern: z
      .string()
      .min(1)
      .exactOptional()
      .describe('JavaScript regular expression, searched anywhere in the answer. Default: the target.'),
    ignoreCase: z.boolean().default(false).describe('Flag i: take upper and lower case as equal.'),
    multiline: z.boolean().default(false).describe('Flag m: ^ and $ also match at line breaks.'),
    dotAll: z.boolean().default(false).describe('Flag s: a dot also matches line breaks.'),
  })
  .superRefine((value, context) => {
    const problem = value.pattern === undefined ? null : compile(value.pattern, toFlags(value)).problem;
    if (problem !== null) context.addIssue({ code: 'custom', path: ['pattern'], message: problem });
  });

type Options = z.infer<typeof options>;

/**
 * The answer matches a pattern: the option's, else the target's (a list = any of them).
 * Read with Unicode rules (flag u) where the pattern allows them. Runs on a thread that is ended after 1 s.
 */
export const regex: Scorer = {
  kind: 'regex',
  options,
  place: 'local',
  needsTarget: (given) => given['pattern'] === undefined,
  score: judge,
};

async function judge(input: ScoreInput): Promise<ScorerVerdict> {
  const settings = options.parse(input.options);
  const patterns =
    settings.pattern === undefined ? (input.target?.values ?? []).map(toTargetText) : [settings.pattern];
  if (patterns.length === 0) return noTarget('regex');
  for (const pattern of patterns) {
    const search = await find({ pattern, flags: toFlags(settings), input });
    if (search.kind === 'unscored') return search;
    if (search.kind === 'found') {
      const explanation = `${quote(pattern)} matches ${quote(search.text)}`;
      return scored({ value: 1, threshold: input.threshold, explanation });
    }
  }
  const answer = input.answer.trim() === '' ? 'the empty answer' : 'the answer';
  const explanation = `${answer} does not match ${quoteList(patterns)}`;
  return scored({ value: 0, threshold: input.threshold, explanation });
}

type Search = { readonly pattern: string; readonly flags: string; readonly input: ScoreInput };
type SearchResult =
  | { readonly kind: 'found'; readonly text: string }
  | { readonly kind: 'absent' }
  | Extract<ScorerVerdict, { kind: 'unscored' }>;

async function find({ pattern, flags, input }: Search): Promise<SearchResult> {
  const compiled = compile(pattern, flags);
  if (pattern === '' || compiled.problem !== null) {
    const problem = compiled.problem ?? 'the pattern is empty and matches everything';
    return { kind: 'unscored', code: 'bad_pattern', explanation: `${problem}` };
  }
  try {
    const task = { kind: 'regex', pattern, flags: compiled.flags, text: input.answer } as const;
    const answer = await runInThread(task, input.signal);
    if (answer.kind !== 'match') return { kind: 'unscored', code: 'scorer_failed', explanation: 'no result' };
    return answer.match === null ? { kind: 'absent' } : { kind: 'found', text: answer.match };
  } catch (error) {
    if (!(error instanceof ThreadTimeoutError)) throw error;
    const explanation = `pattern ${quote(pattern)} ${error.message}: make it simpler`;
    return { kind: 'unscored', code: 'time_out', explanation };
  }
}

const toFlags = (settings: Options): string =>
  `${settings.ignoreCase ? 'i' : ''}${settings.multiline ? 'm' : ''}${settings.dotAll ? 's' : ''}`;

/** With flag u where the pattern allows it; the problem of a pattern that cannot be read either way. */
function compile(
  pattern: string,
  flags: string,
): { readonly flags: string; readonly problem: string | null } {
  for (const candidate of [`${flags}u`, flags]) {
    if (isReadable(pattern, candidate)) return { flags: candidate, problem: null };
  }
  const hint = /^\(\?[a-z]+\)/.test(pattern)
    ? ': use the options ignoreCase, multiline, dotAll for flags'
    : '';
  return { flags, problem: `${quote(pattern)} is not a JavaScript regular expression${hint}` };
}

function isReadable(pattern: string, flags: string): boolean {
  try {
    return new RegExp(pattern, flags) instanceof RegExp;
  } catch {
    return false;
  }
}
