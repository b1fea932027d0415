import { expect, test, vi } from 'vitest';
import { openModule, scorer } from './pool.ts';

vi.setConfig({ testTimeout: 60_000 });

test('a scorer gives a number, yes or no, or a value with its reasons, or no judgement', async () => {
  const { judge } = await openModule(`
    ${scorer('half', '() => 0.5')}
    ${scorer('says', `({ answer, target }: { answer: string; target: unknown }) => answer === target`)}
    ${scorer('rich', `async () => ({ value: 0.25, explanation: 'a quarter', metrics: { words: 4 } })`)}
    ${scorer('shy', '() => null')}
    ${scorer('unsure', `() => ({ value: null, explanation: 'no table in the answer' })`)}
    export const longer = defineScorer({ name: 'longer', options: z.strictObject({ than: z.int().default(2) }),
      score: ({ answer }, { than }) => answer.length > than });`);
  expect(await judge('half')).toMatchObject({ kind: 'scored', value: 0.5, pass: true });
  expect(await judge('says', 'no')).toMatchObject({ value: 0, pass: false });
  expect(await judge('rich')).toEqual({
    kind: 'scored',
    value: 0.25,
    pass: false,
    explanation: 'a quarter',
    metrics: { words: 4 },
  });
  expect(await judge('shy')).toMatchObject({ kind: 'unscored', code: 'abstained' });
  expect(await judge('unsure')).toEqual({
    kind: 'unscored',
    code: 'abstained',
    explanation: 'scorer unsure: no table in the answer',
  });
  expect(await judge('longer')).toMatchObject({ value: 1 });
  expect(await judge('longer', 'yes', { than: 3 })).toMatchObject({ value: 0 });
});

test('a scorer that gives no value from 0 to 1 leaves its attempt unscored with what was wrong', async () => {
  const given = [
    'NaN',
    '1.5',
    '-0.1',
    `'good'`,
    'undefined',
    '{ score: 1 }',
    '{ value: 1, metrics: { at: new Date() } }',
  ];
  const { judge } = await openModule(
    given.map((value, index) => scorer(`s${index}`, `() => (${value})`)).join('\n'),
  );
  const verdicts = [];
  for (const index of given.keys()) verdicts.push(await judge(`s${index}`));
  expect(verdicts.map((one) => (one.kind === 'unscored' ? `${one.code}: ${one.explanation}` : one))).toEqual([
    'contract: scorer s0 broke its contract: value must lie in 0..1, got NaN',
    'contract: scorer s1 broke its contract: value must lie in 0..1, got 1.5',
    'contract: scorer s2 broke its contract: value must lie in 0..1, got -0.1',
    'contract: scorer s3 broke its contract: value must be a number, got the text "good"',
    'contract: scorer s4 broke its contract: value must be a number, got undefined',
    'contract: scorer s5 broke its contract: value must be a number, got undefined',
    'contract: scorer s6 broke its contract: metrics must be an object of plain JSON',
  ]);
});

test('a scorer that hangs, throws, exits or leaks leaves its attempt unscored and harms no other', async () => {
  const { judge } = await openModule(`
    ${scorer('hangs', '() => { for (;;); }', `timeout: '300ms',`)}
    ${scorer('throws', `() => { throw new RangeError('too far'); }`)}
    ${scorer('exits', '() => process.exit(2)')}
    ${scorer('leaks', '() => { const all = []; for (;;) all.push(new Array(100_000).fill(all.length)); }')}
    ${scorer('good', '() => 1')}`);
  const [hangs, throws, exits, leaks] = await Promise.all([
    judge('hangs'),
    judge('throws'),
    judge('exits'),
    judge('leaks'),
  ]);
  expect(hangs).toMatchObject({
    code: 'time_out',
    explanation: expect.stringMatching(
      /^scorer hangs: gave no verdict in 0\.3 s, its limit \(measured \d\.\d s, phase evaluate\); it and all/,
    ) as string,
  });
  expect(throws).toMatchObject({
    code: 'scorer_failed',
    explanation: expect.stringMatching(
      /^scorer throws: it threw RangeError: too far \(at run\.ts:4:\d+\)$/,
    ) as string,
  });
  expect(exits).toMatchObject({
    explanation: 'scorer exits: broke off: its process exited with code 2 in the middle of the call',
  });
  expect(leaks).toMatchObject({
    explanation: 'scorer leaks: broke off: it used more memory than its limit of 256 MiB and was ended',
  });
  expect(await judge('good')).toMatchObject({ kind: 'scored', value: 1 });
});

test('a module whose project is not on this machine says how to start the worker', async () => {
  const { judge, module, pool } = await openModule(scorer('good', '() => 1'));
  const elsewhere = { ...module, projectDir: '/nowhere/at/all' };
  await expect(pool.check(elsewhere, new AbortController().signal)).rejects.toThrow(
    /^"run\.ts" cannot be loaded on this worker: .*\/nowhere\/at\/all; start the worker with --project DIR/,
  );
  expect(await judge('good')).toMatchObject({ value: 1 });
});
