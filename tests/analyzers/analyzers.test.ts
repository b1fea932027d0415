import { expect, test } from 'vitest';
import type { Analyzer, ToolCallFact, Trajectory } from '../../src/analyzers/analyzer.ts';
import { ANALYZERS } from '../../src/analyzers/lookup.ts';
import { loops } from '../../src/analyzers/loops.ts';
import { runAnalyzers } from '../../src/analyzers/run-analyzers.ts';
import { timeSpent } from '../../src/analyzers/time-spent.ts';
import { toolErrors } from '../../src/analyzers/tool-errors.ts';

const call = (tool: string, more: Partial<ToolCallFact> = {}): ToolCallFact => ({
  step: 1,
  tool,
  argumentsDigest: 'a',
  status: 'success',
  tookMs: 100,
  ...more,
});

const way = (toolCalls: readonly ToolCallFact[], more: Partial<Trajectory> = {}): Trajectory => ({
  harness: 'agent',
  toolCalls,
  modelCalls: [],
  ...more,
});

/** Calls with one letter each for their arguments. */
const spell = (letters: string): Trajectory =>
  way(letters.split('').map((argumentsDigest) => call('bash', { argumentsDigest })));

test('tool-errors counts failures and time-outs by tool, the most first', () => {
  const failed = { status: 'error' } as const;
  const calls = [
    call('read_file', failed),
    call('bash', failed),
    call('bash', failed),
    call('bash', { status: 'timeout' }),
    call('bash', { status: null, tookMs: null }),
    call('write_file'),
  ];
  expect(toolErrors.analyze(way(calls))).toEqual({
    summary: '6 tool calls: 3 failed (bash 2, read_file 1); 1 timed out (bash 1); 1 with an unknown end',
    facts: {
      calls: 6,
      failed: 3,
      timedOut: 1,
      unknown: 1,
      'failed.bash': 2,
      'failed.read_file': 1,
      'timedOut.bash': 1,
    },
  });
  expect(toolErrors.analyze(way([call('bash')]))?.summary).toBe('1 tool calls: none failed');
});

test.each([
  ['abc', { calls: 3, repeated: 0, inARow: 0, longestRun: 1 }],
  ['aab', { calls: 3, repeated: 1, inARow: 1, longestRun: 2 }],
  ['abacaaa', { calls: 7, repeated: 4, inARow: 2, longestRun: 3 }],
  ['ababab', { calls: 6, repeated: 4, inARow: 3, longestRun: 1 }],
])('loops of %s', (letters, facts) => {
  expect(loops.analyze(spell(letters))?.facts).toEqual(facts);
});

test('loops tells tools apart, and names the longest run', () => {
  expect(loops.analyze(way([call('bash'), call('read_file')]))?.facts['repeated']).toBe(0);
  expect(loops.analyze(spell('aaab'))?.summary).toBe(
    '2 of 4 tool calls repeat an earlier one, 2 in a row; the longest: bash 3 times',
  );
});

test('time-spent adds up calls, tools and waits; of an external agent nobody sees the tools', () => {
  const modelCalls = [
    { step: 1, latencyMs: 1_200, waitedMs: 300 },
    { step: 2, latencyMs: null, waitedMs: 0 },
  ];
  expect(timeSpent.analyze(way([call('bash')], { modelCalls }))).toEqual({
    summary: '1.2 s in 2 model calls, 0.1 s in 1 tool calls, 0.3 s waiting',
    facts: { modelMs: 1_200, waitedMs: 300, toolMs: 100 },
  });
  expect(timeSpent.analyze(way([], { modelCalls, harness: 'command' }))?.facts).toEqual({
    modelMs: 1_200,
    waitedMs: 300,
  });
});

test('an analyzer that throws or gives no number has its error, and the others have their say', () => {
  const broken: Analyzer = {
    name: 'broken',
    analyze: () => {
      throw new TypeError('cannot read this');
    },
  };
  const odd: Analyzer = { name: 'odd', analyze: () => ({ summary: 'odd', facts: { share: Number.NaN } }) };
  expect(runAnalyzers([broken, odd, toolErrors], way([call('bash')]))).toMatchObject([
    { analyzer: 'broken', summary: null, facts: {}, error: 'cannot read this' },
    { analyzer: 'odd', error: 'fact "share" is NaN; expected a finite number' },
    { analyzer: 'tool-errors', error: null },
  ]);
});

test('an attempt of which nothing is known has no analysis', () => {
  expect(runAnalyzers(ANALYZERS, way([]))).toEqual([]);
});
