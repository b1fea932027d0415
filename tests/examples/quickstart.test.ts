import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { gradeScript } from './shell-case.ts';
import type { ShellCase, Step } from './shell-case.ts';

const FOLDER = join(import.meta.dirname, '../../examples/quickstart');

const readYaml = (name: string): unknown => parse(readFileSync(join(FOLDER, name), 'utf8'));

type Scripts = Readonly<Record<string, { readonly good: readonly Step[]; readonly bad: readonly Step[] }>>;

const shell = readYaml('shell.suite.yaml') as { readonly cases: readonly ShellCase[] };
const questions = readYaml('questions.suite.yaml') as { readonly cases: readonly { readonly id: string }[] };
const { cases: scripts } = readYaml('mock-scripts.yaml') as { readonly cases: Scripts };

const scriptsOf = (id: string): Scripts[string] => scripts[id] ?? { good: [], bad: [] };

test('every case of the quickstart has a good and a bad script, and no script lacks its case', () => {
  const ids = [...shell.cases, ...questions.cases].map((testCase) => testCase.id);
  expect(shell.cases).toHaveLength(24);
  expect(questions.cases).toHaveLength(12);
  expect(Object.keys(scripts).toSorted()).toEqual(ids.toSorted());
  expect(ids.filter((id) => scriptsOf(id).good.length === 0 || scriptsOf(id).bad.length === 0)).toEqual([]);
});

test('every script ends with an answer that calls no tool, and good shell scripts take two to six steps', () => {
  const all = Object.values(scripts).flatMap(({ good, bad }) => [good, bad]);
  const open = all.map((steps) => steps.at(-1)).filter((last) => last?.tools !== undefined || !last?.say);
  expect(open).toEqual([]);
  const lengths = shell.cases.map(({ id }) => scriptsOf(id).good.length);
  expect(lengths.filter((length) => length < 2 || length > 6)).toEqual([]);
});

describe.concurrent('the graders of the shell suite', () => {
  test.for(shell.cases)(
    'pass the good script of $id, fail the bad one and an idle agent',
    async (testCase) => {
      const { good, bad } = scriptsOf(testCase.id);
      const solved = await gradeScript(FOLDER, testCase, good);
      expect(solved).toMatchObject({ pass: true, score: 1 });
      const mistaken = await gradeScript(FOLDER, testCase, bad);
      expect(mistaken.pass).toBe(false);
      expect(mistaken.score).toBeLessThan(1);
      const idle = await gradeScript(FOLDER, testCase, [
        { say: 'All tests PASSED, the files are as you asked.' },
      ]);
      expect(idle.pass).toBe(false);
      expect(idle.score).toBeLessThan(1);
    },
  );
});

const writes = (path: string, content: string): Step => ({
  tools: [{ name: 'write_file', arguments: { path, content } }],
  say: 'Done.',
});

const expectedConf = readFileSync(join(FOLDER, 'graders/expected/config-migrate.conf'), 'utf8');

/** Ways to look right without doing the job. */
const CHEATS: readonly { readonly id: string; readonly how: string; readonly step: Step }[] = [
  { id: 'failed-logins', how: 'two answers on one line', step: { say: '198.51.100.9 16 203.0.113.24 13' } },
  { id: 'balance-ledger', how: 'every entry in the answer', step: { say: 'J15 27.00\nJ16 27.00' } },
  { id: 'mend-total', how: 'the number of the sample', step: writes('total.sh', 'echo 52\n') },
  { id: 'mend-rotate', how: 'a script that does nothing', step: writes('rotate.sh', 'exit 0\n') },
  { id: 'write-humanize', how: 'the two examples', step: writes('humanize.sh', 'echo 1.5 KiB\n') },
  {
    id: 'config-migrate',
    how: 'right lines between wrong ones',
    step: writes('new.conf', `${expectedConf}z: 1\n`),
  },
  { id: 'json-mend', how: 'an empty object', step: writes('service.json', '{}\n') },
  { id: 'log-status-counts', how: 'a claim in the file', step: writes('status.txt', 'PASSED\n') },
];

describe.concurrent('a cheat earns nothing', () => {
  test.for(CHEATS)('C15 in $id: $how', async ({ id, step }) => {
    const testCase = shell.cases.find((candidate) => candidate.id === id);
    if (testCase === undefined) throw new Error(`no case ${id}`);
    expect(await gradeScript(FOLDER, testCase, [step])).toMatchObject({ pass: false, score: 0 });
  });
});
