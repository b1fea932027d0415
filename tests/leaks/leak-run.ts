import type { Json } from '../../src/domain/json.ts';
import { IMAGE } from '../environments/docker-subject.ts';
import { bash } from '../workflows/support.ts';

/** Where the cells of a trial act. */
export const LEAK_KINDS = ['host', 'bubblewrap', 'docker'] as const;
export type LeakKind = (typeof LEAK_KINDS)[number];

export const TOOLS_PER_CELL = 3;

/** What tries to stay: a server, what forked twice and ignores SIGTERM, what took off its variables and left its group. */
const toSteps = (mark: string): readonly Json[] => [
  bash(
    `setsid sleep ${mark} & (setsid sh -c 'trap "" TERM; sleep ${mark}; sleep ${mark}' &); echo 1 > one; sleep 0.5`,
  ),
  bash(
    `env -i PATH="$PATH" setsid sleep ${mark} & mkdir -p deep/er; chmod 500 deep; echo 2 > two; sleep 0.7`,
  ),
  bash('sleep 0.4; cat one two'),
  { say: 'done' },
];

const ENVIRONMENTS: { readonly [kind in LeakKind]: Json } = {
  host: 'host',
  bubblewrap: { kind: 'bubblewrap', network: { run: 'none' }, resources: { pids: 200, memory: '256m' } },
  docker: { kind: 'docker', image: IMAGE, network: { run: 'none' }, resources: { pids: 200 } },
};

/** Cells of each kind; `fresh` ones are graded in a second session. */
const CELLS: readonly { readonly kind: LeakKind; readonly evaluation: string; readonly count: number }[] = [
  { kind: 'host', evaluation: 'reuse', count: 3 },
  { kind: 'bubblewrap', evaluation: 'reuse', count: 2 },
  { kind: 'bubblewrap', evaluation: 'fresh', count: 2 },
  { kind: 'docker', evaluation: 'reuse', count: 2 },
  { kind: 'docker', evaluation: 'fresh', count: 1 },
];

export const CELLS_PER_TRIAL = CELLS.reduce((sum, { count }) => sum + count, 0);

/** Ten agents that leave as much behind as they can; their processes have `mark` among their arguments. */
export function createLeakRun(mark: string): Json {
  return {
    name: 'leaks',
    models: [
      {
        id: 'agent',
        provider: 'mock',
        model: 'script',
        params: { script: { cases: {}, default: { good: [...toSteps(mark)], bad: [] } } },
      },
    ],
    requests: CELLS.map(({ kind, evaluation, count }) => ({
      name: `${kind}-${evaluation}`,
      harness: { kind: 'agent', tools: ['bash'], maxSteps: 8 },
      environment: ENVIRONMENTS[kind],
      evaluation,
      suite: {
        name: 'leaks',
        scorers: [{ kind: 'command', command: 'sleep 0.5; test -e one' }],
        cases: Array.from({ length: count }, (_, index) => ({ id: `case-${index + 1}`, input: 'Work.' })),
      },
      retries: { max: 3 },
    })),
    execution: { taskConcurrency: CELLS_PER_TRIAL, seed: 1 },
  };
}
