import { parseToolArguments } from '../providers/ai-sdk.ts';
import { listFields, textOf, type Fields } from '../providers/fields.ts';
import type { AssistantMessage, Message, ToolCall, ToolSchema } from '../domain/transcript.ts';
import { toSchema } from './chat-messages.ts';

/** The messages of a request to the responses API: instructions, then its items. */
export function readResponsesMessages(body: Fields): Message[] {
  const { input } = body;
  const instructions = textOf(body['instructions']);
  return [
    ...(instructions === '' ? [] : [{ role: 'system' as const, text: instructions }]),
    ...(typeof input === 'string' ? [{ role: 'user' as const, text: input }] : readItems(listFields(input))),
  ];
}

/** Thoughts, texts and calls that follow each other are one answer. */
export function readItems(items: readonly Fields[]): Message[] {
  const messages: Message[] = [];
  const toolNames = new Map<string, string>();
  for (const item of items) {
    const part = readAnswerPart(item);
    if (part === null) {
      messages.push(readGivenItem(item, toolNames));
      continue;
    }
    for (const { id, name } of part.toolCalls) toolNames.set(id, name);
    const last = messages.at(-1);
    if (last?.role === 'assistant') messages[messages.length - 1] = join(last, part);
    else messages.push(part);
  }
  return messages;
}

function join(one: AssistantMessage, other: AssistantMessage): AssistantMessage {
  const reasoning = `${one.reasoning ?? ''}${other.reasoning ?? ''}`;
  return {
    role: 'assistant',
    text: one.text + other.text,
    reasoning: reasoning === '' ? null : reasoning,
    toolCalls: [...one.toolCalls, ...other.toolCalls],
  };
}

/** An item that a model wrote, or null. */
function readAnswerPart(item: Fields): AssistantMessage | null {
  const type = textOf(item['type']);
  if ((type === 'message' || type === '') && item['role'] === 'assistant')
    return say(readText(item['content']));
  if (type === 'reasoning') {
    const thoughts = [...listFields(item['summary']), ...listFields(item['content'])];
    return { ...say(''), reasoning: thoughts.map((part) => textOf(part['text'])).join('\n') || null };
  }
  // `function_call`, `custom_tool_call`, `local_shell_call`, and whatever comes after them.
  return type.endsWith('_call') ? { ...say(''), toolCalls: [readCall(item)] } : null;
}

const say = (text: string): AssistantMessage => ({ role: 'assistant', text, reasoning: null, toolCalls: [] });

function readCall(item: Fields): ToolCall {
  const given = item['arguments'] ?? item['input'] ?? item['action'] ?? '';
  return {
    id: textOf(item['call_id']) || textOf(item['id']),
    name: textOf(item['name']) || textOf(item['type']),
    arguments: parseToolArguments(typeof given === 'string' ? given : JSON.stringify(given)),
  };
}

function readGivenItem(item: Fields, toolNames: ReadonlyMap<string, string>): Message {
  const type = textOf(item['type']);
  if (type.endsWith('_output')) {
    const toolCallId = textOf(item['call_id']);
    const toolName = toolNames.get(toolCallId) ?? '';
    return { role: 'tool', toolCallId, toolName, text: readText(item['output']), status: 'success' };
  }
  const { role } = item;
  if (role === 'system' || role === 'developer') return { role: 'system', text: readText(item['content']) };
  return { role: 'user', text: item['content'] === undefined ? `[${type}]` : readText(item['content']) };
}

function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listFields(content)
    .map((part) => textOf(part['text']) || textOf(part['refusal']) || `[${textOf(part['type'])}]`)
    .join('');
}

export const readResponsesTools = (raw: unknown): ToolSchema[] =>
  listFields(raw)
    .filter((tool) => textOf(tool['name']) !== '')
    .map((tool) => toSchema(tool, tool['parameters']));
