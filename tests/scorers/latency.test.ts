import { expect, test } from 'vitest';
import { runScorer } from '../../src/scorers/guard.ts';
import { latency } from '../../src/scorers/latency.ts';
import { buildInput } from './support.ts';

const judge = (latencyMs: number | null, max: string | number = '2s') =>
  runScorer(latency, {
    ...buildInput({ answer: 'x' }, latency.options.parse({ max })),
    measured: { latencyMs, costUsd: null },
  });

test('an answer within the time scores 1, a slower one the share of it', async () => {
  expect(await judge(2_000)).toMatchObject({ value: 1, pass: true });
  expect(await judge(0)).toMatchObject({ value: 1, pass: true });
  expect(await judge(8_000)).toMatchObject({
    value: 0.25,
    pass: false,
    explanation: '8000 ms in model calls, at most 2000 ms expected',
    metrics: { latencyMs: 8_000 },
  });
});

test('an attempt without a model call has no latency, neither good nor bad', async () => {
  expect(await judge(null)).toMatchObject({ kind: 'unscored', code: 'no_calls' });
  expect(await runScorer(latency, buildInput({ answer: 'x' }, { max: 1 }))).toMatchObject({
    code: 'no_calls',
  });
});

test('a time that is none is refused when the suite is read', () => {
  for (const max of ['soon', 0, -1, undefined, '0s'])
    expect(latency.options.safeParse({ max }).success).toBe(false);
});
