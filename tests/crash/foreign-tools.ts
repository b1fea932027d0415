import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Agents of four steps whose tools are a server's or the run file's own; the worker is killed in the second. */
export const STEPS = 4;
export const HELD_STEP = 2;

export const POLICIES = ['refuse', 'skip', 'rerun', 'idempotent', 'ask'] as const;
export type Policy = (typeof POLICIES)[number];

export type ForeignCase = {
  readonly id: string;
  readonly from: 'server' | 'run file';
  readonly policy: Policy;
  /** Inside the tool, or inside the model call that comes after it. */
  readonly place: 'tool' | 'call';
};

export const CASES: readonly ForeignCase[] = POLICIES.flatMap((policy) => [
  { id: `server-${policy}`, from: 'server', policy, place: 'tool' },
  { id: `own-${policy}`, from: 'run file', policy, place: 'tool' },
  ...(policy === 'refuse'
    ? ([
        { id: 'server-call', from: 'server', policy, place: 'call' },
        { id: 'own-call', from: 'run file', policy, place: 'call' },
      ] as const)
    : []),
]);

const SERVER = fileURLToPath(new URL('stubborn-server.sh', import.meta.url));

const toScript = ({ id: cell, from, policy, place }: ForeignCase) => ({
  good: [
    ...Array.from({ length: STEPS }, (_, index) => {
      const step = index + 1;
      const waits = place === 'tool' && step === HELD_STEP;
      const hangs = place === 'call' && step === HELD_STEP + 1;
      return {
        tools: [
          { name: from === 'server' ? 'shop__work' : toOwnName(policy), arguments: { cell, step, waits } },
        ],
        // The second request of the call, after the kill, is answered at once.
        ...(hangs ? { fault: { kind: 'hang' }, times: 1 } : {}),
      };
    }),
    { say: 'done' },
  ],
  bad: [],
});

const toOwnName = (policy: Policy): string => `own_${policy}`;

const toRepeat = (policy: Policy) => (policy === 'idempotent' ? { idempotent: true } : { onUnknown: policy });

const toRequest = (policy: Policy, marks: string) => ({
  name: policy,
  suite: {
    name: policy,
    scorers: ['exact'],
    cases: CASES.filter((one) => one.policy === policy).map(({ id }) => ({
      id,
      input: 'Go.',
      target: 'done',
    })),
  },
  harness: {
    kind: 'agent',
    maxSteps: 20,
    tools: [`the tool ${toOwnName(policy)}`],
    mcp: [
      {
        name: 'shop',
        command: SERVER,
        variables: { MARKS: marks },
        tools: [{ name: 'work', ...toRepeat(policy) }],
      },
    ],
  },
  environment: 'host',
});

const toOwnTool = (policy: Policy, marks: string): string => `
const ${toOwnName(policy)} = defineTool({
  ...${JSON.stringify({ name: toOwnName(policy), description: 'Works.', ...toRepeat(policy) })} as const,
  parameters: z.object({ cell: z.string(), step: z.number(), waits: z.boolean() }),
  execute: ({ cell, step, waits }) => {
    appendFileSync(\`${marks}/\${cell}\`, \`\${step}\\n\`);
    if (waits) appendFileSync('${marks}/own', \`\${process.pid}\\n\`);
    while (waits && !existsSync('${marks}/go')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    return 'here';
  },
});`;

/** A run file with tools of its own, which hear nothing while they wait. */
export const toRunFile = (marks: string): string => `
import { defineRun, defineTool, z } from 'assay';
import { appendFileSync, existsSync } from 'node:fs';
${POLICIES.map((policy) => toOwnTool(policy, marks)).join('')}
export default defineRun(${JSON.stringify({
  name: 'foreign',
  models: [
    {
      id: 'agent',
      provider: 'mock',
      model: 'script',
      params: { script: { cases: Object.fromEntries(CASES.map((one) => [one.id, toScript(one)])) } },
    },
  ],
  requests: POLICIES.map((policy) => toRequest(policy, marks)),
  execution: { taskConcurrency: CASES.length, seed: 1 },
})
  // Tools are named by their variables.
  .replaceAll(/"the tool (\w+)"/g, '$1')});
`;

/** Steps whose tools ran, in order, with repetitions. */
export const readSteps = (marks: string, { id }: Pick<ForeignCase, 'id'>): readonly number[] =>
  existsSync(join(marks, id)) ? readFileSync(join(marks, id), 'utf8').trim().split('\n').map(Number) : [];

/** Ids of the processes that ran tools of the run file, or of those of servers and of what these started. */
export const readProcesses = (marks: string, whose: 'own' | 'servers'): readonly number[] =>
  readFileSync(join(marks, whose), 'utf8').trim().split(/\s+/).map(Number);
