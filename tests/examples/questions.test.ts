import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/domain/json.ts';
import type { TargetValue, TestCase } from '../../src/domain/suite.ts';
import { SCORERS } from '../../src/scorers/lookup.ts';
import { buildCase } from '../scorers/support.ts';

const FOLDER = join(import.meta.dirname, '../../examples/quickstart');

type Question = {
  readonly id: string;
  readonly input: string;
  readonly choices?: readonly string[];
  readonly target?: TargetValue | readonly TargetValue[];
  readonly scorers?: Scorers;
};
type Scorers = readonly [string | (JsonObject & { readonly kind: string })];
type Script = readonly [{ readonly say: string }];

const readYaml = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));
const suite = readYaml('questions.suite.yaml') as {
  readonly scorers: Scorers;
  readonly cases: readonly Question[];
};
const { cases: scripts } = readYaml('mock-scripts.yaml') as {
  readonly cases: Readonly<Record<string, { readonly good: Script; readonly bad: Script }>>;
};

const scorerOf = ({ scorers }: Question): JsonObject & { readonly kind: string } => {
  const [entry] = scorers ?? suite.scorers;
  return typeof entry === 'string' ? { kind: entry } : entry;
};
const kindOf = (question: Question): string => scorerOf(question).kind;

function passes(question: Question, answer: string): Promise<boolean | string> {
  const scorer = SCORERS.get(kindOf(question));
  if (scorer === undefined) throw new Error(`no scorer ${kindOf(question)}`);
  const { kind: _kind, ...given } = scorerOf(question);
  const input = {
    options: scorer.options.parse(given),
    threshold: 1,
    testCase: toTestCase(question),
    target: question.target === undefined ? null : { values: [question.target].flat() as TargetValue[] },
    answer,
    session: null,
    loadBlob: () => Promise.reject(new Error('these scorers bring no files')),
    signal: AbortSignal.timeout(5_000),
  };
  return scorer
    .score(input)
    .then((verdict) => (verdict.kind === 'scored' ? verdict.pass : verdict.explanation));
}

const toTestCase = ({ id, input, choices }: Question): TestCase =>
  buildCase({ id, input: { kind: 'text', text: input }, choices: choices ?? null });

test('the questions use every scorer that reads text', () => {
  const kinds = new Set(suite.cases.map(kindOf));
  expect([...kinds].toSorted()).toEqual(['choice', 'exact', 'includes', 'json', 'numeric', 'regex']);
});

describe('the scorers of the questions', () => {
  test.for(suite.cases)('pass the good answer to $id and fail the bad one', async (question) => {
    const { good, bad } = scripts[question.id]!;
    expect(await passes(question, good[0].say)).toBe(true);
    expect(await passes(question, bad[0].say)).toBe(false);
  });
});
