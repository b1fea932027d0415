import { runScorer } from '../../src/scorers/guard.ts';
import { SCORERS } from '../../src/scorers/lookup.ts';
import type { JsonObject } from '../../src/domain/json.ts';
import type { ScorerVerdict } from '../../src/domain/score.ts';
import type { TargetValue, TestCase } from '../../src/domain/suite.ts';
import type { ScoreInput } from '../../src/scorers/scorer.ts';

export const buildCase = (changes: Partial<TestCase> = {}): TestCase => ({
  id: 'case-1',
  input: { kind: 'text', text: 'question' },
  system: null,
  choices: null,
  tags: [],
  weight: 1,
  cluster: null,
  files: {},
  setup: null,
  scorers: null,
  limits: null,
  metadata: {},
  ...changes,
});

export type Given = {
  readonly answer: string;
  readonly target?: TargetValue | readonly TargetValue[] | null;
  readonly options?: JsonObject;
  readonly choices?: readonly string[];
  readonly threshold?: number;
};

export function buildInput(given: Given, options: JsonObject = {}): ScoreInput {
  const target = given.target ?? null;
  const values = Array.isArray(target) ? target : [target];
  return {
    options,
    threshold: given.threshold ?? 1,
    testCase: buildCase({ choices: given.choices ?? null }),
    target: target === null ? null : { values: values as TargetValue[] },
    answer: given.answer,
    session: null,
    loadBlob: async (digest) => {
      throw new Error(`no blob ${digest}`);
    },
    signal: new AbortController().signal,
  };
}

/** Scores as a run does: options through the scorer's schema, verdict through the guard. */
export async function score(kind: string, given: Given): Promise<ScorerVerdict> {
  const scorer = SCORERS.get(kind);
  if (scorer === undefined) throw new Error(`no scorer ${kind}`);
  return runScorer(scorer, buildInput(given, scorer.options.parse(given.options ?? {})));
}

/** The value, or the code of an unscored verdict. */
export async function judge(kind: string, given: Given): Promise<number | string> {
  const verdict = await score(kind, given);
  return verdict.kind === 'scored' ? verdict.value : verdict.code;
}
