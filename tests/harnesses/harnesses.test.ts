import { expect, test } from 'vitest';
import type { CaseInput, TestCase } from '../../src/domain/suite.ts';
import { findHarness, HARNESS_KINDS } from '../../src/harnesses/lookup.ts';
import { toLetter } from '../../src/harnesses/start-messages.ts';
import { buildCase } from '../scorers/support.ts';

const build = (change: Partial<TestCase> = {}): TestCase =>
  buildCase({ id: 'c', input: { kind: 'text', text: 'How many?' }, ...change });

const MESSAGES: CaseInput = {
  kind: 'messages',
  messages: [
    { role: 'system', text: 'From the input.' },
    { role: 'user', text: 'One?' },
    { role: 'assistant', text: 'Yes.' },
    { role: 'user', text: 'Two?' },
  ],
};

test('direct says the case and nothing else', () => {
  expect(findHarness('direct').startMessages(build())).toEqual([{ role: 'user', text: 'How many?' }]);
  expect(findHarness('direct').listTools({ kind: 'direct' })).toEqual([]);
});

test('choices are lettered below the last user message', () => {
  const messages = findHarness('direct').startMessages(
    build({ input: MESSAGES, choices: ['a cat', 'a dog'] }),
  );
  expect(messages.at(-1)).toEqual({ role: 'user', text: 'Two?\n\nA) a cat\nB) a dog' });
  expect(messages.at(-3)).toEqual({ role: 'user', text: 'One?' });
});

test('system texts become one message at the beginning', () => {
  const [first, ...rest] = findHarness('direct').startMessages(
    build({ input: MESSAGES, system: 'From the case.' }),
  );
  expect(first).toEqual({ role: 'system', text: 'From the case.\n\nFrom the input.' });
  expect(rest).toEqual([
    { role: 'user', text: 'One?' },
    { role: 'assistant', text: 'Yes.', reasoning: null, toolCalls: [] },
    { role: 'user', text: 'Two?' },
  ]);
});

test('an agent is told how to work and when it has finished', () => {
  const messages = findHarness('agent').startMessages(build({ system: 'Be brief.' }));
  expect(messages).toHaveLength(2);
  expect(messages[0]?.text).toMatch(/tools[\s\S]*directory[\s\S]*final answer\.\n\nBe brief\.$/);
});

test('an agent is offered the tools of its request in their order', () => {
  const list = (tools: readonly string[]) =>
    findHarness('agent').listTools({ kind: 'agent', tools, maxSteps: 5 });
  expect(list(['read_file', 'bash']).map(({ name }) => name)).toEqual(['read_file', 'bash']);
  expect(() => list(['hammer'])).toThrow('There is no tool "hammer"; tools: bash, read_file');
});

test('every harness has a version', () => {
  expect(HARNESS_KINDS).toEqual(['direct', 'agent', 'command']);
  expect(findHarness('agent').version).toMatch(/^agent\/\d+$/);
});

test('letters go on after Z', () => {
  expect([0, 25, 26, 27, 52].map(toLetter)).toEqual(['A', 'Z', 'AA', 'AB', 'BA']);
});
