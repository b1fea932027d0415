import type { JsonObject } from '../domain/json.ts';
import type { AssistantMessage, Message, ToolCall, ToolSchema } from '../domain/transcript.ts';
import { isFields, listFields, textOf, toFields, type Fields } from '../providers/fields.ts';
import { toSchema } from './chat-messages.ts';

/** The messages of a request to the Gemini API: the system text, then the turns. */
export function readGoogleMessages(body: Fields): Message[] {
  const system = readParts(toFields(body['systemInstruction'])['parts']);
  const messages: Message[] = system === '' ? [] : [{ role: 'system', text: system }];
  const calls: ToolCall[] = [];
  for (const turn of listFields(body['contents'])) {
    if (turn['role'] === 'model') {
      const said = readGoogleAssistant(turn['parts']);
      calls.push(...said.toolCalls);
      messages.push(said);
    } else messages.push(...readGiven(turn['parts'], calls));
  }
  return messages;
}

/** Results of tools are messages of their own; without an id one belongs to the first open call of its name. */
function readGiven(parts: unknown, open: ToolCall[]): Message[] {
  const all = listFields(parts);
  const results = all.filter(isResult).map((part): Message => {
    const { id, name, response } = toFields(part['functionResponse']);
    const at = open.findIndex((call) => (textOf(id) === '' ? call.name === name : call.id === id));
    const [call] = at < 0 ? [] : open.splice(at, 1);
    const { output, content, error } = toFields(response);
    // Google's own client calls it output, the AI SDK content.
    const text = textOf(output ?? content) || JSON.stringify(response ?? null);
    const status = error === undefined ? 'success' : 'error';
    return { role: 'tool', toolCallId: call?.id ?? textOf(id), toolName: textOf(name), text, status };
  });
  const rest = readParts(all.filter((part) => !isResult(part)));
  return rest === '' && results.length > 0 ? results : [...results, { role: 'user', text: rest }];
}

const isResult = (part: Fields): boolean => isFields(part['functionResponse']);

const readParts = (parts: unknown): string =>
  listFields(parts)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : `[${Object.keys(part)[0] ?? 'part'}]`))
    .join('\n');

/** An answer, in a request's history or as it came. A call without an id is named by its place. */
export function readGoogleAssistant(parts: unknown): AssistantMessage {
  const all = listFields(parts);
  const join = (isThought: boolean): string =>
    all
      .filter((part) => (part['thought'] === true) === isThought)
      .map((part) => textOf(part['text']))
      .join('');
  return {
    role: 'assistant',
    text: join(false),
    reasoning: join(true) || null,
    toolCalls: all
      .filter((part) => isFields(part['functionCall']))
      .map((part, index) => {
        const { id, name, args } = toFields(part['functionCall']);
        return {
          id: textOf(id) || `call-${index + 1}`,
          name: textOf(name),
          arguments: { kind: 'parsed', value: toFields(args) as JsonObject },
        };
      }),
  };
}

export const readGoogleTools = (raw: unknown): ToolSchema[] =>
  listFields(raw)
    .flatMap((tool) => listFields(tool['functionDeclarations']))
    .filter((tool) => textOf(tool['name']) !== '')
    .map((tool) => toSchema(tool, tool['parametersJsonSchema'] ?? tool['parameters']));

/** Whether a part names a file instead of containing it. */
export const namesFile = (body: Fields): boolean =>
  textOf(body['cachedContent']) !== '' ||
  listFields(body['contents']).some((turn) =>
    listFields(turn['parts']).some((part) => isFields(part['fileData'])),
  );
