import { AsyncLocalStorage } from 'node:async_hooks';
import type { LanguageModelV3 } from '@ai-sdk/provider';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { JsonObject } from '../domain/json.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import { readSdkResult } from './ai-sdk.ts';
import { toSpent } from './answer-body.ts';
import { checkEvidence } from './answer-evidence.ts';
import type { SdkAnswer } from './ai-sdk.ts';
import { EventStream } from './event-stream.ts';
import { exchange } from './exchange.ts';
import type { ExchangeAnswer, ExchangeHead, ExchangeRequest } from './exchange.ts';
import { checkHealth } from './health.ts';
import { readParams } from './params.ts';
import { createFault, toProviderError } from './provider-error.ts';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.ts';
import type { Wire, WireAnswer, WireCall } from './wire.ts';

export type SdkProviderOptions = {
  readonly baseUrl: string;
  /** Sent as the API wants it, never logged; null = none. */
  readonly apiKey: string | null;
  readonly rules?: readonly FailureRule[];
};

/** One call on its way through the AI SDK, whose fetch hook is told nothing of it. */
type CallInFlight<Params> = WireCall<Params> & {
  readonly signal: AbortSignal;
  answer: WireAnswer | null;
  notes: string[];
};

/** Headers that the SDK fills with a key of its own; the wire's replace them. */
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'x-goog-api-key']);

/**
 * Models of one API through the AI SDK's own model class: the SDK writes requests and reads answers, Assay
 * sends them, with its own timers and without the SDK's retries.
 */
export class SdkProvider<Params> implements ModelProvider {
  readonly #wire: Wire<Params>;
  readonly #options: SdkProviderOptions;
  readonly #inFlight = new AsyncLocalStorage<CallInFlight<Params>>();
  readonly #models = new Map<string, Promise<LanguageModelV3>>();

  constructor(wire: Wire<Params>, options: SdkProviderOptions) {
    this.#wire = wire;
    this.#options = { ...options, baseUrl: options.baseUrl.replace(/\/+$/, '') };
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    try {
      const params = readParams(this.#wire.params, request.params);
      const call: CallInFlight<Params> = { request, params, signal, answer: null, notes: [] };
      return toModelAnswer(call, await this.#generate(call));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toProviderError(error, {
        now: Date.now(),
        secret: this.#options.apiKey,
        ...(this.#options.rules === undefined ? {} : { rules: this.#options.rules }),
      });
    }
  }

  async #generate(call: CallInFlight<Params>): Promise<SdkAnswer> {
    const model = await this.#toModel(call.request.model);
    const options = this.#wire.toCallOptions(call);
    try {
      const result = await this.#inFlight.run(call, () => model.doGenerate(options));
      return readSdkResult(result, call.request.cell.step);
    } catch (error) {
      if (call.answer === null) throw error;
      // A model's answer came and is paid: asking again would bring the same.
      const message = `the AI SDK could not read the answer: ${error instanceof Error ? error.message : String(error)}`;
      throw createFault({
        class: 'bad_answer',
        retryable: false,
        message,
        usage: toSpent(call.answer.usage),
      });
    }
  }

  async checkHealth(signal: AbortSignal): Promise<string | null> {
    const { baseUrl, apiKey } = this.#options;
    const headers = this.#wire.toHeaders(apiKey);
    return checkHealth({ url: `${baseUrl}${this.#wire.healthPath}`, headers, signal });
  }

  /** The SDK's model is costly to build and keeps no state, so there is one for each name. */
  #toModel(name: string): Promise<LanguageModelV3> {
    const known = this.#models.get(name);
    if (known !== undefined) return known;
    const created = this.#wire.createModel(name, {
      baseUrl: this.#options.baseUrl,
      fetch: (input, init) => this.#send(String(input), init),
    });
    this.#models.set(name, created);
    return created;
  }

  /** Stands in for `fetch`: sends, checks, and hands the SDK a body in the shape that it reads. */
  async #send(url: string, init: RequestInit | undefined): Promise<Response> {
    const call = this.#inFlight.getStore();
    if (call === undefined) throw new Error('the AI SDK lost the context of the call');
    if (call.answer !== null) throw new Error('the AI SDK sent a second request for one call');
    const answer = await this.#exchange(call, {
      url: this.#wire.toUrl?.(url, call) ?? url,
      method: 'POST',
      headers: this.#toHeaders(init),
      body: JSON.stringify(this.#wire.completeBody(toBody(init), call)),
      timeouts: call.request.timeouts,
      signal: call.signal,
    });
    call.answer = this.#wire.readAnswer(answer);
    return new Response(JSON.stringify(call.answer.body), {
      headers: { 'content-type': 'application/json' },
    });
  }

  #toHeaders(init: RequestInit | undefined): { [name: string]: string } {
    const given = [...new Headers(init?.headers).entries()].filter(([name]) => !KEY_HEADERS.has(name));
    return { ...Object.fromEntries(given), ...this.#wire.toHeaders(this.#options.apiKey) };
  }

  async #exchange(call: CallInFlight<Params>, request: ExchangeRequest): Promise<ExchangeAnswer> {
    let stream: EventStream | null = null;
    let head: ExchangeHead | null = null;
    const onHead = (seen: ExchangeHead): EventStream | null => {
      const events = (seen.headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
      head = seen;
      if (seen.status < 300) call.request.onAnswering?.();
      stream = events && seen.status < 300 ? new EventStream(this.#wire.createFolder()) : null;
      return stream;
    };
    const answer = await exchange({ ...request, onHead }).catch((error: unknown) => {
      return keepFinished(call, { error, stream, head });
    });
    const folded: EventStream | null = stream;
    return folded === null ? answer : { ...answer, body: (folded as EventStream).end() };
  }
}

/** A stream that broke after the model had ended is a whole answer; asking again would pay twice. */
function keepFinished(
  call: { readonly signal: AbortSignal; readonly notes: string[] },
  broken: { error: unknown; stream: EventStream | null; head: ExchangeHead | null },
): ExchangeAnswer {
  const { stream, head, error } = broken;
  if (call.signal.aborted || stream === null || head === null || !stream.isFinished) throw error;
  call.notes.push('the connection broke after the answer was complete');
  return { ...head, body: '' };
}

function toBody(init: RequestInit | undefined): JsonObject {
  if (typeof init?.body !== 'string') throw new Error('the AI SDK sent a request without a JSON body');
  return JSON.parse(init.body) as JsonObject;
}

function toModelAnswer<Params>(call: CallInFlight<Params>, said: SdkAnswer): ModelAnswer {
  const { usage, notes } = checkEvidence(said, call.answer?.usage ?? UNKNOWN_USAGE);
  return {
    message: {
      role: 'assistant',
      text: said.text,
      reasoning: said.reasoning,
      toolCalls: said.toolCalls,
      ...(said.parts === null ? {} : { parts: said.parts }),
    },
    finishReason: said.finishReason,
    usage,
    reportedCostUsd: call.answer?.reportedCostUsd ?? null,
    answerId: call.answer?.answerId ?? null,
    notes: [...(call.answer?.notes ?? []), ...call.notes, ...said.notes, ...notes],
  };
}
