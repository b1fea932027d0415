import type { TestCase } from '../domain/suite.ts';
import type { Message } from '../domain/transcript.ts';

/**
 * The messages of a case: one system message first (many models take only one, and only there) made of the
 * harness's own text, the case's `system` and the system messages that its input begins with, in this order;
 * choices are added to the last user message.
 */
export function toStartMessages(testCase: TestCase, harnessText: string | null): readonly Message[] {
  const messages = toInputMessages(testCase);
  const firstOther = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, firstOther === -1 ? messages.length : firstOther);
  const parts = [harnessText, testCase.system, ...leading.map(({ text }) => text)];
  const system = parts.filter((part) => part !== null && part.trim() !== '').join('\n\n');
  const rest = withChoices(messages.slice(leading.length), testCase.choices);
  return system === '' ? rest : [{ role: 'system', text: system }, ...rest];
}

function toInputMessages({ input }: TestCase): readonly Message[] {
  if (input.kind === 'text') return [{ role: 'user', text: input.text }];
  return input.messages.map(({ role, text }) =>
    role === 'assistant' ? { role, text, reasoning: null, toolCalls: [] } : { role, text },
  );
}

function withChoices(messages: readonly Message[], choices: readonly string[] | null): readonly Message[] {
  if (choices === null || choices.length === 0) return messages;
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const list = choices.map((choice, index) => `${toLetter(index)}) ${choice}`).join('\n');
  return messages.map((message, index) =>
    index === last && message.role === 'user' ? { ...message, text: `${message.text}\n\n${list}` } : message,
  );
}

/** A, B ... Z, AA, AB ... */
export function toLetter(index: number): string {
  const rest = Math.floor(index / 26) - 1;
  return (rest < 0 ? '' : toLetter(rest)) + String.fromCharCode(65 + (index % 26));
}
