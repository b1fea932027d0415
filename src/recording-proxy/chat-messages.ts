import { parseToolArguments } from '../providers/ai-sdk.ts';
import { readContent } from '../providers/chat-answer.ts';
import { listFields, textOf, toFields, type Fields } from '../providers/fields.ts';
import type { AssistantMessage, Message, ToolSchema } from '../domain/transcript.ts';

/** The messages of a chat completion's request. What is no text is named in brackets. */
export function readChatMessages(raw: unknown): Message[] {
  const toolNames = new Map<string, string>();
  return listFields(raw).map((message) => {
    const read = readMessage(message, toolNames);
    if (read.role === 'assistant') for (const { id, name } of read.toolCalls) toolNames.set(id, name);
    return read;
  });
}

function readMessage(message: Fields, toolNames: ReadonlyMap<string, string>): Message {
  switch (message['role']) {
    case 'system':
    case 'developer':
      return { role: 'system', text: readText(message['content']) };
    case 'assistant':
      return readChatAssistant(message);
    case 'tool':
    case 'function': {
      const toolCallId = textOf(message['tool_call_id']);
      const toolName = toolNames.get(toolCallId) ?? textOf(message['name']);
      return { role: 'tool', toolCallId, toolName, text: readText(message['content']), status: 'success' };
    }
    default:
      return { role: 'user', text: readText(message['content']) };
  }
}

function readText(content: unknown): string {
  const { text, ignored } = readContent(content);
  return text + ignored.map((type) => `[${type}]`).join('');
}

/** An answer, in a request's history or as it came. */
export function readChatAssistant(message: Fields): AssistantMessage {
  const { text, reasoning } = readContent(message['content']);
  const thought = textOf(message['reasoning_content'] ?? message['reasoning']) + reasoning;
  return {
    role: 'assistant',
    text: text === '' ? textOf(message['refusal']) : text,
    reasoning: thought === '' ? null : thought,
    toolCalls: listFields(message['tool_calls']).map((call) => {
      const inner = toFields(call['function'] ?? call['custom']);
      return {
        id: textOf(call['id']),
        name: textOf(inner['name']),
        arguments: parseToolArguments(textOf(inner['arguments'] ?? inner['input'])),
      };
    }),
  };
}

export const readChatTools = (raw: unknown): ToolSchema[] =>
  listFields(raw)
    .map((tool) => toFields(tool['function']))
    .filter((tool) => textOf(tool['name']) !== '')
    .map((tool) => toSchema(tool, tool['parameters']));

export const toSchema = (tool: Fields, parameters: unknown): ToolSchema => ({
  name: textOf(tool['name']),
  description: textOf(tool['description']),
  parameters: (parameters ?? { type: 'object' }) as ToolSchema['parameters'],
});
