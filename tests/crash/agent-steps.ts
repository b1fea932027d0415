import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/domain/json.ts';
import { script } from '../workflows/support.ts';

/** Agents of ten steps, of which each is stopped at one place when the worker is killed. */
export const STEPS = 10;

export type Case = {
  readonly id: string;
  /** The step at which it waits. */
  readonly step: number;
  readonly place: 'call' | 'tool';
  /** What the run file says of its tool. */
  readonly policy: 'refuse' | 'skip' | 'rerun' | 'idempotent' | 'ask';
};

const POLICIES = ['refuse', 'skip', 'rerun', 'idempotent', 'ask'] as const;

/** One case inside the model call of each step, one inside the tool of each step; the policies in turn. */
export const CASES: readonly Case[] = Array.from({ length: STEPS }, (_, index) => index + 1).flatMap(
  (step) => {
    const policy = POLICIES[step % POLICIES.length] ?? 'refuse';
    return [
      { id: `call-${step}`, step, place: 'call', policy },
      { id: `tool-${step}`, step, place: 'tool', policy },
    ] as const;
  },
);

/** Each tool writes a line to a file of its case; where the case waits it waits until a file is there. */
function toCommand(one: Case, step: number, marks: string): string {
  const say = `echo ${step} >> ${marks}/${one.id}`;
  const waits = one.place === 'tool' && step === one.step;
  return waits ? `${say}; while [ ! -e ${marks}/go ]; do sleep 0.1; done; echo here` : `${say}; echo here`;
}

function toScript(one: Case, marks: string): Json {
  const steps: Json[] = Array.from({ length: STEPS }, (_, index) => ({
    tools: [{ name: 'bash', arguments: { command: toCommand(one, index + 1, marks) } }],
    // The second request of the call, after the kill, is answered at once.
    ...(one.place === 'call' && one.step === index + 1 ? { fault: { kind: 'hang' }, times: 1 } : {}),
  }));
  return { good: [...steps, { say: 'done' }], bad: [] };
}

/** One request for each policy, so that each has what the run file says of bash. */
export function createStepRun(marks: string): { readonly [key: string]: Json } {
  const cases = Object.fromEntries(CASES.map((one) => [one.id, toScript(one, marks)]));
  const model = script([], 'agent');
  return {
    name: 'steps',
    models: [{ ...model, params: { script: { cases } } }],
    requests: POLICIES.map((policy) => ({
      name: policy,
      suite: {
        name: policy,
        scorers: ['exact'],
        cases: CASES.filter((one) => one.policy === policy).map(({ id }) => ({
          id,
          input: 'Work.',
          target: 'done',
        })),
      },
      harness: { kind: 'agent', tools: [toTool(policy)], maxSteps: 20 },
      environment: 'host',
    })),
    execution: { taskConcurrency: CASES.length, seed: 1 },
  };
}

const toTool = (policy: Case['policy']): Json =>
  policy === 'idempotent' ? { name: 'bash', idempotent: true } : { name: 'bash', onUnknown: policy };

/** Steps whose tools ran, in order, with repetitions. */
export const readSteps = (marks: string, { id }: Case): readonly number[] =>
  existsSync(join(marks, id)) ? readFileSync(join(marks, id), 'utf8').trim().split('\n').map(Number) : [];

/** Whether every case waits at its place: those in a tool have begun it, those in a call have done all before. */
export const isEverybodyThere = (marks: string): boolean =>
  CASES.every((one) => readSteps(marks, one).length === (one.place === 'tool' ? one.step : one.step - 1));
