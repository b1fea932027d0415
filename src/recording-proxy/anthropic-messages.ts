import { isFields, listFields, textOf, type Fields } from '../providers/fields.ts';
import type { AssistantMessage, Message, ToolSchema } from '../domain/transcript.ts';
import type { JsonObject } from '../domain/json.ts';
import { toSchema } from './chat-messages.ts';

/** The messages of a request to the messages API: the system text, then the turns. */
export function readAnthropicMessages(body: Fields): Message[] {
  const system = readText(body['system']);
  const messages: Message[] = system === '' ? [] : [{ role: 'system', text: system }];
  const toolNames = new Map<string, string>();
  for (const turn of listFields(body['messages'])) {
    if (turn['role'] === 'assistant') {
      const said = readAnthropicAssistant(turn['content']);
      for (const { id, name } of said.toolCalls) toolNames.set(id, name);
      messages.push(said);
    } else messages.push(...readGiven(turn['content'], toolNames));
  }
  return messages;
}

/** Results of tools are messages of their own; what stands beside them is the user's. */
function readGiven(content: unknown, toolNames: ReadonlyMap<string, string>): Message[] {
  const blocks = listFields(content);
  const results = blocks.filter(isResult).map((block): Message => {
    const toolCallId = textOf(block['tool_use_id']);
    const status = block['is_error'] === true ? 'error' : 'success';
    const text = readText(block['content']);
    return { role: 'tool', toolCallId, toolName: toolNames.get(toolCallId) ?? '', text, status };
  });
  const rest = typeof content === 'string' ? content : readText(blocks.filter((block) => !isResult(block)));
  return rest === '' && results.length > 0 ? results : [...results, { role: 'user', text: rest }];
}

const isResult = (block: Fields): boolean => block['type'] === 'tool_result';

function readText(content: unknown): string {
  if (typeof content === 'string') return content;
  return listFields(content)
    .map((block) => (block['type'] === 'text' ? textOf(block['text']) : `[${textOf(block['type'])}]`))
    .join('\n');
}

/** An answer, in a request's history or as it came. */
export function readAnthropicAssistant(content: unknown): AssistantMessage {
  if (typeof content === 'string')
    return { role: 'assistant', text: content, reasoning: null, toolCalls: [] };
  const blocks = listFields(content);
  const join = (type: string, field: string): string =>
    blocks
      .filter((block) => block['type'] === type)
      .map((block) => textOf(block[field]))
      .join('');
  return {
    role: 'assistant',
    text: join('text', 'text'),
    reasoning: join('thinking', 'thinking') || null,
    toolCalls: blocks
      .filter((block) => block['type'] === 'tool_use')
      .map((block) => ({
        id: textOf(block['id']),
        name: textOf(block['name']),
        arguments: isFields(block['input'])
          ? { kind: 'parsed', value: block['input'] as JsonObject }
          : { kind: 'unreadable', text: textOf(block['input']) },
      })),
  };
}

export const readAnthropicTools = (raw: unknown): ToolSchema[] =>
  listFields(raw)
    .filter((tool) => textOf(tool['name']) !== '')
    .map((tool) => toSchema(tool, tool['input_schema']));
