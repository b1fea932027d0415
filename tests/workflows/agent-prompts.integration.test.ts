import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeBubblewrap } from '../environments/bubblewrap-subject.ts';
import { createTestAssay, type TestAssay } from '../support/assay.ts';
import { agent, runAgents, type Parts } from './agent-runs.ts';
import { sums } from './support.ts';

let assay: TestAssay;
beforeAll(async () => {
  assay = await createTestAssay();
});
afterAll(() => assay.close());

const { problem } = await describeBubblewrap();
if (problem !== null) console.warn(`skipped: prompts of agents in bubblewrap: ${problem}`);
const environments = problem === null ? ['host', 'bubblewrap'] : ['host'];

test('F21 prompts by argument, stdin and file reach agents that read all of their input, or none', async () => {
  const big = 'x'.repeat(3_000_000);
  const withCase = (harness: Parts, [input, target]: readonly [string, string]): Parts => ({
    ...harness,
    request: { suite: { ...sums(1), cases: [{ id: 'c', input, target }] } },
  });
  const agents: { readonly [name: string]: Parts } = {
    argument: withCase(agent('cat >/dev/null; test -t 0 || echo "got $1"'), ['hi', 'got hi']),
    stdin: withCase(agent('wc -c', { prompt: 'stdin' }), [big, '3000000']),
    closes: withCase(agent('exec <&-; echo ok', { prompt: 'stdin' }), [big, 'ok']),
    file: withCase(
      {
        kind: 'command',
        command: [
          'sh',
          '-c',
          'cat {{promptFile}}; test {{workdir}} = "$PWD" && test "$1" = gpt-x',
          'agent',
          '{{model}}',
        ],
        prompt: { file: 'in/task.txt' },
      },
      ['read me', 'read me'],
    ),
    inside: withCase({ kind: 'command', command: ['printf', '%s', 'say {{prompt}} now'] }, [
      'a b',
      'say a b now',
    ]),
  };
  const everywhere: readonly (readonly [string, Parts])[] = environments.flatMap((environment) =>
    Object.entries(agents).map(([name, { request, ...harness }]): readonly [string, Parts] => [
      `${name} in ${environment}`,
      { ...harness, request: { ...(request as Parts), environment } },
    ]),
  );
  const seen = await runAgents(assay, Object.fromEntries(everywhere));
  const names = everywhere.map(([name]) => name);
  expect(names.map((name) => [name, seen.cell(name)?.outcome, seen.cell(name)?.score])).toEqual(
    names.map((name) => [name, 'scored', 1]),
  );
  const took = names
    .filter((name) => name.startsWith('closes'))
    .map((name) => seen.run(name)?.durationMs ?? Infinity);
  expect(Math.max(...took)).toBeLessThan(5_000);
});
