import type { LanguageModelV3, LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { Usage } from '../domain/usage.ts';
import type { StreamFolder } from './event-stream.ts';
import type { ExchangeAnswer } from './exchange.ts';
import type { ModelRequest } from './provider.ts';

/** What the AI SDK's model is built from; `fetch` stands in for the network. */
export type ModelHooks = {
  readonly baseUrl: string;
  readonly fetch: (input: unknown, init?: RequestInit) => Promise<Response>;
};

/** A successful answer, checked, in the one shape that the AI SDK reads. */
export type WireAnswer = {
  readonly body: object;
  /** Read here: the SDK would turn what is missing into 0. */
  readonly usage: Usage;
  readonly reportedCostUsd: number | null;
  readonly answerId: string | null;
  readonly notes: readonly string[];
};

export type WireCall<Params> = { readonly request: ModelRequest; readonly params: Params };

/** How one API speaks: what `SdkProvider` needs to know of it. `Params` are the checked parameters. */
export interface Wire<Params> {
  readonly params: ZodType<Params>;
  /** Path below the base address that a health check asks for. */
  readonly healthPath: string;
  /** Headers that carry the key. */
  toHeaders(apiKey: string | null): { readonly [name: string]: string };
  /** Loads the SDK and builds its model, which keeps no state. */
  createModel(name: string, hooks: ModelHooks): Promise<LanguageModelV3>;
  toCallOptions(call: WireCall<Params>): LanguageModelV3CallOptions;
  /** The SDK's body with what it cannot say: streaming, fields of the user's own. */
  completeBody(body: JsonObject, call: WireCall<Params>): JsonObject;
  /** The SDK's address where streaming has another one. */
  toUrl?(url: string, call: WireCall<Params>): string;
  createFolder(): StreamFolder;
  /** Throws a `CallFault` for everything that is no model's answer. */
  readAnswer(answer: ExchangeAnswer): WireAnswer;
}
