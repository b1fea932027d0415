import type {
  JSONValue,
  LanguageModelV3FinishReason,
  LanguageModelV3FunctionTool,
  LanguageModelV3GenerateResult,
  LanguageModelV3Message,
  LanguageModelV3Prompt,
  LanguageModelV3ReasoningPart,
  LanguageModelV3TextPart,
  LanguageModelV3ToolCallPart,
  SharedV3ProviderMetadata,
  SharedV3ProviderOptions,
} from '@ai-sdk/provider';
import type { JsonObject } from '../domain/json.ts';
import type {
  AnswerPart,
  AssistantMessage,
  FinishReason,
  Message,
  ToolArguments,
  ToolCall,
  ToolSchema,
} from '../domain/transcript.ts';
import { isFields } from './fields.ts';

type SdkPart = LanguageModelV3ReasoningPart | LanguageModelV3TextPart | LanguageModelV3ToolCallPart;

/** What an AI SDK result says, in Assay's form; usage is the provider's own matter. */
export type SdkAnswer = {
  readonly text: string;
  readonly reasoning: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** In order and with the provider's marks, where it wants them back; else null. */
  readonly parts: readonly AnswerPart[] | null;
  readonly finishReason: FinishReason;
  readonly notes: readonly string[];
};

/**
 * A transcript as the AI SDK takes it. Thoughts are sent back only when asked for: many servers refuse
 * them, some demand them. Arguments that were no JSON object go back as `{}`, since servers refuse a
 * history that does not parse.
 */
export function toPrompt(
  messages: readonly Message[],
  options: { readonly sendReasoning: boolean },
): LanguageModelV3Prompt {
  return messages.map((message) =>
    toSdkMessage(message, options.sendReasoning ? 'with thoughts' : 'without'),
  );
}

function toSdkMessage(message: Message, thoughts: 'with thoughts' | 'without'): LanguageModelV3Message {
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.text };
    case 'user':
      return { role: 'user', content: [{ type: 'text', text: message.text }] };
    case 'assistant': {
      if (message.parts !== undefined) return { role: 'assistant', content: toMarkedParts(message) };
      const reasoning = thoughts === 'without' ? null : message.reasoning;
      return {
        role: 'assistant',
        content: [
          ...(reasoning === null ? [] : [{ type: 'reasoning' as const, text: reasoning }]),
          ...(message.text === '' ? [] : [{ type: 'text' as const, text: message.text }]),
          ...message.toolCalls.map(toSdkToolCall),
        ],
      };
    }
    case 'tool':
      return {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: message.toolCallId,
            toolName: toWireName(message.toolName),
            output: { type: message.status === 'success' ? 'text' : 'error-text', value: message.text },
          },
        ],
      };
  }
}

/** An answer as its provider said it: order, signatures and ids kept. */
const toMarkedParts = ({ parts = [], toolCalls }: AssistantMessage): SdkPart[] =>
  parts.flatMap((part): SdkPart[] => {
    const providerOptions = part.marks as SharedV3ProviderOptions;
    if (part.kind !== 'tool_call') return [{ type: part.kind, text: part.text, providerOptions }];
    return toolCalls
      .filter((call) => call.id === part.toolCallId)
      .map((call) => ({ ...toSdkToolCall(call), providerOptions }));
  });

const toSdkToolCall = (call: ToolCall) => ({
  type: 'tool-call' as const,
  toolCallId: call.id,
  toolName: toWireName(call.name),
  input: call.arguments.kind === 'parsed' ? call.arguments.value : {},
});

/** A name that servers accept in a history, whatever the model made up. */
const toWireName = (name: string): string => {
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  return plain === '' ? 'unnamed' : plain;
};

export const toSdkTools = (tools: readonly ToolSchema[]): LanguageModelV3FunctionTool[] =>
  tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: isFields(tool.parameters)
      ? (tool.parameters as { [name: string]: JSONValue })
      : { type: 'object' },
  }));

/** Reads a result. `step` makes ids for tool calls that came without one. */
export function readSdkResult(result: LanguageModelV3GenerateResult, step: number): SdkAnswer {
  let text = '';
  let reasoning = '';
  const toolCalls: ToolCall[] = [];
  const parts: AnswerPart[] = [];
  const notes = result.warnings.map(toWarningNote);
  for (const part of result.content) {
    const marks = toMarks(part.providerMetadata);
    if (part.type === 'text' || part.type === 'reasoning') {
      if (part.type === 'text') text += part.text;
      else reasoning += part.text;
      parts.push({ kind: part.type, text: part.text, marks });
    } else if (part.type === 'tool-call') {
      const call = toToolCall(part, { step, before: toolCalls });
      toolCalls.push(call);
      parts.push({ kind: 'tool_call', toolCallId: call.id, marks });
    } else notes.push(`ignored a part of type "${part.type}"`);
  }
  return {
    text,
    reasoning: reasoning === '' ? null : reasoning,
    toolCalls,
    parts: parts.some(isMarked) ? parts : null,
    finishReason: toFinishReason(result.finishReason, toolCalls),
    notes,
  };
}

/** A provider's metadata as plain JSON, without what is null. */
function toMarks(metadata: SharedV3ProviderMetadata | undefined): JsonObject {
  const marks = Object.entries(metadata ?? {}).map(([provider, fields]) => {
    const known = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
    return [provider, Object.fromEntries(known)] as const;
  });
  return JSON.parse(JSON.stringify(Object.fromEntries(marks))) as JsonObject;
}

/** An item's id alone is worth nothing to a provider that stored nothing. */
const isMarked = ({ marks }: AnswerPart): boolean =>
  Object.values(marks).some(
    (fields) => isFields(fields) && Object.keys(fields).some((name) => name !== 'itemId'),
  );

function toToolCall(
  part: { readonly toolCallId: string; readonly toolName: string; readonly input: string },
  place: { readonly step: number; readonly before: readonly ToolCall[] },
): ToolCall {
  const taken = part.toolCallId === '' || place.before.some((call) => call.id === part.toolCallId);
  return {
    id: taken ? toToolCallId(place.step, place.before.length + 1) : part.toolCallId,
    name: part.toolName,
    arguments: parseToolArguments(part.input),
  };
}

/** Nine letters and digits: the narrowest form that a provider demands of an id. */
export const toToolCallId = (step: number, call: number): string =>
  `c${String(step % 100_000).padStart(5, '0')}${String(call % 1000).padStart(3, '0')}`;

/** An empty text is `{}`; anything but a JSON object stays the text that came. */
export function parseToolArguments(text: string): ToolArguments {
  if (text.trim() === '') return { kind: 'parsed', value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return { kind: 'parsed', value: value as JsonObject };
    // The SDK writes a text that stands for arguments as JSON.
    if (typeof value === 'string') return { kind: 'unreadable', text: value };
  } catch {
    // Kept as the text that came: the agent's loop tells the model.
  }
  return { kind: 'unreadable', text };
}

function toFinishReason(reason: LanguageModelV3FinishReason, toolCalls: readonly ToolCall[]): FinishReason {
  switch (reason.unified) {
    case 'stop':
    case 'other':
      return toolCalls.length > 0 ? 'tool_calls' : reason.unified;
    case 'tool-calls':
      // Without a call there is nothing to run: the text is the answer.
      return toolCalls.length > 0 ? 'tool_calls' : 'stop';
    case 'content-filter':
      return 'content_filter';
    case 'length':
    case 'error':
      return reason.unified;
  }
}

function toWarningNote(warning: LanguageModelV3GenerateResult['warnings'][number]): string {
  if (warning.type === 'other') return warning.message;
  const details = warning.details === undefined ? '' : ` (${warning.details})`;
  return `${warning.type}: ${warning.feature}${details}`;
}
