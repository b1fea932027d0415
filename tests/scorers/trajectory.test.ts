import { expect, test } from 'vitest';
import type { Json } from '../../src/domain/json.ts';
import type { Message } from '../../src/domain/transcript.ts';
import { runScorer } from '../../src/scorers/guard.ts';
import { trajectory } from '../../src/scorers/trajectory.ts';

const answer = (calls: readonly (readonly [string, { readonly [key: string]: Json }])[]): Message => ({
  role: 'assistant',
  text: '',
  reasoning: null,
  toolCalls: calls.map(([name, value], at) => ({ id: `c${at}`, name, arguments: { kind: 'parsed', value } })),
});
const observation = (at: number, toolName: string, status: 'success' | 'error' = 'success'): Message => ({
  role: 'tool',
  toolCallId: `c${at}`,
  toolName,
  text: '',
  status,
});

const TRANSCRIPT: readonly Message[] = [
  answer([['read', { path: 'a.txt' }]]),
  observation(0, 'read'),
  answer([
    ['read', { path: 'b.txt', lines: [1, 2] }],
    ['bash', { command: 'make test' }],
  ]),
  observation(0, 'read', 'error'),
  observation(1, 'bash'),
  answer([]),
];

async function judge(options: { readonly [key: string]: Json }, transcript = TRANSCRIPT) {
  const verdict = await runScorer(trajectory, {
    options,
    threshold: 1,
    testCase: { id: 'c' } as never,
    target: null,
    answer: '',
    session: null,
    about: { scorerName: 'trajectory', modelId: 'm', context: {}, transcript },
    loadBlob: () => Promise.reject(new Error('no files')),
    signal: new AbortController().signal,
  });
  return verdict.kind === 'scored' ? [verdict.value, verdict.explanation] : [verdict.code];
}

test.each([
  [{ uses: ['read', 'bash'] }, 1],
  [{ uses: ['read', 'write'] }, 0.5],
  [{ avoids: ['write'] }, 1],
  [{ avoids: ['bash'] }, 0],
  [{ order: ['read', 'bash'] }, 1],
  [{ order: ['read', 'read', 'bash'] }, 1],
  [{ order: ['bash', 'read'] }, 0],
  [{ calls: [{ tool: 'read', arguments: { path: 'b.txt' } }] }, 1],
  [{ calls: [{ tool: 'read', arguments: { path: 'c.txt' } }] }, 0],
  [{ calls: [{ tool: 'read', times: 2 }] }, 1],
  [{ calls: [{ tool: 'read', times: 1 }] }, 0],
  [{ maxSteps: 3, minSteps: 3, maxCalls: 3, maxFailedCalls: 1 }, 1],
  [{ maxSteps: 2, minSteps: 4, maxCalls: 2, maxFailedCalls: 0 }, 0],
] as const)('%j scores %d', async (options, value) => {
  expect((await judge(options as never))[0]).toBe(value);
});

test('what is wrong is said, and an agent without a tool call is judged as well', async () => {
  expect((await judge({ order: ['bash', 'read'], maxSteps: 1 }))[1]).toBe(
    'the order bash, read was not kept: read, read, bash; 3 steps, at most 1 expected',
  );
  expect(await judge({ uses: ['read'] }, [answer([])])).toEqual([0, 'read was not called']);
});

test('options that check nothing are refused', () => {
  expect(trajectory.options.safeParse({}).success).toBe(false);
});
