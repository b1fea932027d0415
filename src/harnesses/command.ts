import type { Message } from '../domain/transcript.ts';
import type { TestCase } from '../domain/suite.ts';
import type { Harness } from './harness.ts';
import { toStartMessages } from './start-messages.ts';

/** Counts up when what agents are told changes. */
export const HARNESS_VERSION = 'command/1';

/** An external agent with tools and words of its own: it is given the case and nothing else. */
export const command: Harness = {
  kind: 'command',
  version: HARNESS_VERSION,
  startMessages: (testCase) => toStartMessages(testCase, null),
  listTools: () => [],
};

/**
 * The case as one text: its system text and its question, apart by an empty line. Turns of an earlier conversation
 * carry their role.
 */
export function toPrompt(testCase: TestCase): string {
  const messages = command.startMessages(testCase);
  const isConversation = messages.some(({ role }) => role === 'assistant');
  return messages.map((message) => toText(message, isConversation)).join('\n\n');
}

const toText = ({ role, text }: Message, isConversation: boolean): string =>
  isConversation && role !== 'system' ? `${role}: ${text}` : text;
