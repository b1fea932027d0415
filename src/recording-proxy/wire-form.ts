import type { AssistantMessage, FinishReason, Message, ToolSchema } from '../domain/transcript.ts';
import type { StreamFolder } from '../providers/event-stream.ts';
import type { ExchangeAnswer } from '../providers/exchange.ts';
import type { Fields } from '../providers/fields.ts';
import type { ModelAnswer } from '../providers/provider.ts';
import type { WireAnswer } from '../providers/wire.ts';

/** A request of an agent as the proxy understands it. */
export type Asked = {
  /** The name that the agent gave; empty when it gave none. */
  readonly model: string;
  readonly isStreamed: boolean;
  /** Null = the agent set no cap on output. */
  readonly maxOutputTokens: number | null;
  /** Answers that it wants at once. */
  readonly answers: number;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
};

/** What the proxy puts in the place of the agent's own words. */
export type Change = {
  readonly model: string;
  /** Cap on output that is set where the agent sets none; null = none is set. */
  readonly maxOutputTokens: number | null;
  /** Kind of the provider that gets it. */
  readonly kind: string;
};

/** What an answer of the proxy's own is called. */
export type AnswerFacts = {
  readonly id: string;
  readonly model: string;
  /** Seconds since 1970. */
  readonly createdS: number;
  /** Whether a stream is to end with an event that counts tokens, where that is a matter of wish. */
  readonly countsTokens: boolean;
};

export type WireError = { readonly status: number; readonly code: string; readonly message: string };

/** One API as its server sees it. */
export interface WireForm {
  readonly name: 'chat' | 'responses' | 'messages' | 'google';
  /** Below the base address, which ends in `/v1`. */
  readonly path: string;
  /** Of a form whose path says more: what it says, as fields of the body; null = it is no path of this form. */
  readPath?(path: string, search: URLSearchParams): Fields | null;
  /** Where such a request goes, below the provider's base address. */
  toUpstreamPath?(body: Fields, model: string): string;
  /** Kinds of providers that speak it: what they answer goes through as it comes. */
  readonly kinds: readonly string[];
  /** Headers that carry a provider's key. */
  toHeaders(apiKey: string | null): { readonly [name: string]: string };
  readAsked(body: Fields): Asked;
  /** A wish that cannot be granted, in words for the agent's author, or null. */
  findRefusal(body: Fields, rules: { readonly isBounded: boolean }): string | null;
  complete(body: Fields, change: Change): Fields;
  /** Whether the answer is to have an event of counts that the agent did not ask for. */
  hidesCounts(body: Fields): boolean;
  createFolder(): StreamFolder;
  /** Throws a `CallFault` for everything that is no model's answer. */
  readAnswer(answer: ExchangeAnswer): WireAnswer;
  /** What a checked answer says. */
  readSaid(body: Fields): { readonly message: AssistantMessage; readonly finishReason: FinishReason };
  writeAnswer(answer: ModelAnswer, facts: AnswerFacts): Fields;
  /** The same answer as the texts of a stream's events. */
  writeEvents(answer: ModelAnswer, facts: AnswerFacts): readonly string[];
  writeError(error: WireError): Fields;
}

/** A text in pieces, as a stream brings it. */
export const toPieces = (text: string): readonly string[] => text.match(/[^]{1,48}/gu) ?? [];
