import type { Json, JsonObject } from './json.ts';

/** One message of a transcript in Assay's own, provider-neutral form. */
export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | {
      readonly role: 'assistant';
      /** The answer's text; thoughts are never part of it. */
      readonly text: string;
      /** Thoughts that the provider marked as such, or null. */
      readonly reasoning: string | null;
      readonly toolCalls: readonly ToolCall[];
      /** The same answer as its provider wants it back; only where it carries marks such as signatures. */
      readonly parts?: readonly AnswerPart[];
    }
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly toolName: string;
      /** What the model reads: cut at 16 KiB in the middle. */
      readonly text: string;
      readonly status: ToolStatus;
    };

/** A part of an answer, in its order, with the marks that its provider demands with the next request. */
export type AnswerPart =
  | { readonly kind: 'reasoning' | 'text'; readonly text: string; readonly marks: JsonObject }
  | { readonly kind: 'tool_call'; readonly toolCallId: string; readonly marks: JsonObject };

export type AssistantMessage = Extract<Message, { role: 'assistant' }>;
export type ToolMessage = Extract<Message, { role: 'tool' }>;

export type ToolStatus = 'success' | 'error' | 'timeout' | 'unknown';

/** A tool call of an answer. `id` is unique in its answer (made up when the provider sent none). */
export type ToolCall = {
  readonly id: string;
  readonly name: string;
  readonly arguments: ToolArguments;
};

/** Arguments as read: an object, or the raw text when it was no JSON object. An empty text is `{}`. */
export type ToolArguments =
  | {
      readonly kind: 'parsed';
      readonly value: { readonly [name: string]: Json };
      /** What the model wrote, where that was no JSON or did not fit and was repaired. */
      readonly writtenAs?: string;
    }
  | { readonly kind: 'unreadable'; readonly text: string };

/** What a model is told about a tool: JSON Schema of its arguments. */
export type ToolSchema = {
  readonly name: string;
  readonly description: string;
  readonly parameters: Json;
};

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter' | 'error' | 'other';
