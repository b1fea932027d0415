import { expect, test } from 'vitest';
import { z } from 'zod';
import { runScorer } from '../../src/scorers/guard.ts';
import { SCORERS, toScorerCatalog } from '../../src/scorers/lookup.ts';
import type { Scorer, ScoreInput } from '../../src/scorers/scorer.ts';
import type { ScorerVerdict } from '../../src/domain/score.ts';
import { buildInput } from './support.ts';

const build = (score: (input: ScoreInput) => Promise<unknown>): Scorer => ({
  kind: 'custom',
  options: z.strictObject({}),
  place: 'local',
  needsTarget: () => false,
  score: score as (input: ScoreInput) => Promise<ScorerVerdict>,
});

const valued = (value: unknown, pass: unknown = value === 1) =>
  build(async () => ({ kind: 'scored', value, pass, explanation: '', metrics: {} }));

const input = buildInput({ answer: 'x' });

test.each([NaN, Infinity, -Infinity, 1.2, -1, null, '0.9', undefined, true, 7])(
  'F25 AC-O10 AC-E6 a value of %s is unscored and names the scorer',
  async (value) => {
    const verdict = await runScorer(valued(value, true), input, { name: 'mine', timeoutMs: null });
    expect(verdict).toMatchObject({ kind: 'unscored', code: 'contract' });
    expect(verdict.explanation).toContain('scorer mine broke its contract: value must');
  },
);

test.each([null, 'text', 0.5, {}, [], { kind: 'scored' }, { kind: 'other', explanation: '' }])(
  'a verdict of %j is unscored',
  async (verdict) => {
    expect(
      await runScorer(
        build(async () => verdict),
        input,
      ),
    ).toMatchObject({ kind: 'unscored', code: 'contract' });
  },
);

test('AC-E6 a pass at odds with the value is unscored', async () => {
  const verdict = await runScorer(valued(0.1, true), input);
  expect(verdict.explanation).toContain('pass is true at value 0.1 and threshold 1');
});

test('metrics that are no JSON are unscored', async () => {
  const scorer = build(async () => ({
    kind: 'scored',
    value: 1,
    pass: true,
    explanation: '',
    metrics: { a: NaN },
  }));
  expect(await runScorer(scorer, input)).toMatchObject({ kind: 'unscored', code: 'contract' });
});

test('AA-12 a scorer that throws is unscored with its message', async () => {
  const scorer = build(async () => {
    throw new Error('boom');
  });
  const verdict = await runScorer(scorer, input);
  expect(verdict).toEqual({
    kind: 'unscored',
    code: 'scorer_failed',
    explanation: 'scorer custom failed: boom',
  });
});

test('a scorer that never answers is unscored after its limit, which is named', async () => {
  const scorer = build(() => new Promise(() => null));
  const verdict = await runScorer(scorer, input, { name: 'slow', timeoutMs: 50 });
  expect(verdict).toMatchObject({ kind: 'unscored', code: 'time_out' });
  expect(verdict.explanation).toBe('scorer slow: gave no verdict in 0.05 s, its limit (phase evaluate)');
});

test('cancellation is no verdict', async () => {
  const signal = AbortSignal.abort(new Error('cancelled'));
  await expect(runScorer(valued(1), { ...input, signal })).rejects.toThrow('cancelled');
});

test('a sound verdict passes through, a long explanation is cut', async () => {
  const explanation = 'x'.repeat(5_000);
  const scorer = build(async () => ({
    kind: 'scored',
    value: 1,
    pass: true,
    explanation,
    metrics: { n: [1] },
  }));
  const verdict = await runScorer(scorer, input);
  expect(verdict).toMatchObject({ kind: 'scored', value: 1, metrics: { n: [1] } });
  expect(verdict.explanation).toHaveLength(2_000);
});

test('every scorer describes each of its options for the schema of suites', () => {
  expect([...toScorerCatalog().keys()]).toEqual(
    expect.arrayContaining(['exact', 'includes', 'regex', 'choice', 'numeric', 'json']),
  );
  for (const scorer of SCORERS.values()) {
    const schema = z.toJSONSchema(scorer.options, { io: 'input' });
    for (const property of Object.values(schema.properties ?? {})) {
      expect(property).toHaveProperty('description');
    }
    expect(scorer.options.safeParse({ nonsense: 1 }).success).toBe(false);
  }
});
