import { expect, test } from 'vitest';
import { findFault } from '../../src/domain/fault.ts';
import type { Score } from '../../src/domain/score.ts';

const score = (kind: string, pass = false, changes: Partial<Score> = {}): Score => ({
  scorer: kind,
  kind,
  weight: 1,
  required: true,
  verdict: { kind: 'scored', value: pass ? 1 : 0, pass, explanation: '', metrics: {} },
  ...changes,
});

const kindOf = (...scores: Score[]) => findFault(scores)?.kind ?? null;

test('a failing attempt has one fault, the most mechanical one, whatever the order of its scorers', () => {
  const order = [
    'trajectory',
    'not-includes',
    'exact',
    'latency',
    'similarity',
    'javascript',
    'tone-of-ours',
    'judge',
  ];
  for (const from of order.keys()) {
    const failing = order.slice(from).map((kind) => score(kind));
    expect(kindOf(...failing)).toBe(order[from]);
    expect(kindOf(...failing.toReversed())).toBe(order[from]);
  }
});

test('of equals the first in the suite counts; what passed, has no weight or gave no verdict is no fault', () => {
  expect(kindOf(score('json'), score('exact'))).toBe('json');
  expect(kindOf(score('exact', true), score('judge'))).toBe('judge');
  expect(kindOf(score('exact', false, { weight: 0 }), score('cost'))).toBe('cost');
  const silent = { kind: 'unscored', code: 'time_out', explanation: '' } as const;
  expect(kindOf(score('exact', false, { verdict: silent }))).toBeNull();
  expect(kindOf()).toBeNull();
});
