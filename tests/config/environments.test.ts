import { expect, test } from 'vitest';
import { findProblems, loadFiles, toMessages, toPlaces } from './support.ts';

const SUITE = 'cases: [{ input: q, target: a }]\n';
const toFiles = (environment: string) => ({
  'run.yaml': `models: [mock:oracle]\nsuite: s.yaml\nharness: agent\nenvironment: ${environment}\n`,
  's.yaml': SUITE,
});

test('an environment has an image, limits, a network for each phase and a time to be kept', async () => {
  const { spec } = await loadFiles(
    toFiles(
      '{ kind: docker, image: "python:3.12", variables: { A: b }, keep: 2h, resources: { cpus: 1.5, memory: 2g, reservedMemory: 512m, pids: 64, disk: 1g }, network: { run: none, evaluation: { allow: ["*.example.com:443", 10.0.0.0/8] } } }',
    ),
  );
  expect(spec.requests[0]?.environment).toEqual({
    kind: 'docker',
    image: 'python:3.12',
    variables: { A: 'b' },
    keepMs: 7_200_000,
    resources: {
      cpus: 1.5,
      memoryBytes: 2 ** 31,
      reservedMemoryBytes: 2 ** 29,
      pids: 64,
      diskBytes: 2 ** 30,
    },
    network: {
      baseline: { mode: 'public' },
      run: { mode: 'none' },
      evaluation: { mode: 'allowlist', allow: ['*.example.com:443', '10.0.0.0/8'] },
    },
  });
});

test('one policy stands for all phases', async () => {
  const { spec } = await loadFiles(toFiles('{ kind: bubblewrap, network: none }'));
  const mode = 'none';
  expect(spec.requests[0]?.environment).toMatchObject({
    network: { baseline: { mode }, run: { mode }, evaluation: { mode } },
  });
});

test('what is wrong with an environment is told with its line and column', async () => {
  const problems = await findProblems(
    toFiles(
      '{ kind: bubblewrap, root: rel, variables: { "a b": x }, network: { run: { allow: ["http://x"] } } }',
    ),
  );
  expect(toPlaces(problems)).toEqual([
    'run.yaml:4:40 environment.root',
    'run.yaml:4:58 environment.variables["a b"]',
    'run.yaml:4:96 environment.network.run.allow[0]',
  ]);
  expect(toMessages(problems)[2]).toContain('"http://x" is no target of a network policy; expected a host');
  const sizes = await findProblems(toFiles('{ kind: bubblewrap, resources: { memory: 5 } }'));
  expect(toMessages(sizes).join('\n')).toContain('a size such as 512m or 2g');
});

test('AC-N1 host is refused a network to cut and limits to hold before anything starts', async () => {
  const problems = await findProblems(
    toFiles('{ kind: host, network: { run: none }, resources: { pids: 5 } }'),
  );
  expect(toMessages(problems)).toEqual([
    'environment host cannot cut the network: choose bubblewrap or docker',
    'environment host holds no limits: choose bubblewrap or docker',
  ]);
});
