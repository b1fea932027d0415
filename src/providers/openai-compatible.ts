import { AsyncLocalStorage } from 'node:async_hooks';
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { FailureRule } from '../domain/classify-failure.ts';
import type { JsonObject } from '../domain/json.ts';
import { isNoEvidence } from '../domain/no-evidence.ts';
import type { ProviderSpec } from '../domain/run.ts';
import type { Usage } from '../domain/usage.ts';
import { UNKNOWN_USAGE } from '../domain/usage.ts';
import { readSdkResult, toPrompt, toSdkTools } from './ai-sdk.ts';
import type { SdkAnswer } from './ai-sdk.ts';
import { readChatAnswer } from './chat-answer.ts';
import type { ChatBody } from './chat-answer.ts';
import { ChatStream } from './chat-stream.ts';
import { readChatUsage, readReportedCost } from './chat-usage.ts';
import { exchange } from './exchange.ts';
import type { ExchangeAnswer, ExchangeHead, ExchangeRequest } from './exchange.ts';
import { checkHealth } from './health.ts';
import { completeBody, openAiParams } from './openai-params.ts';
import type { OpenAiParams } from './openai-params.ts';
import { readParams } from './params.ts';
import { createFault, toProviderError } from './provider-error.ts';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.ts';

export type OpenAiCompatibleOptions = {
  /** Sent as a bearer token, never logged; null = none. */
  readonly apiKey: string | null;
  readonly rules?: readonly FailureRule[];
};

/** One call on its way through the AI SDK, whose fetch hook is told nothing of it. */
type CallInFlight = {
  readonly request: ModelRequest;
  readonly params: OpenAiParams;
  readonly signal: AbortSignal;
  body: ChatBody | null;
  notes: string[];
};

/** Models behind an address that speaks OpenAI's chat completions, through the AI SDK's own model class. */
export class OpenAiCompatibleProvider implements ModelProvider {
  readonly #baseUrl: string;
  readonly #options: OpenAiCompatibleOptions;
  readonly #inFlight = new AsyncLocalStorage<CallInFlight>();
  readonly #models = new Map<string, OpenAICompatibleChatLanguageModel>();

  constructor(spec: ProviderSpec, options: OpenAiCompatibleOptions) {
    if (spec.baseUrl === null) throw new Error(`provider "${spec.id}" needs a baseUrl`);
    this.#baseUrl = spec.baseUrl.replace(/\/+$/, '');
    this.#options = options;
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    signal.throwIfAborted();
    try {
      const params = readParams(openAiParams, request.params);
      const call: CallInFlight = { request, params, signal, body: null, notes: [] };
      const model = this.#toModel(request.model);
      const result = await this.#inFlight.run(call, () => model.doGenerate(toCallOptions(request, params)));
      return toModelAnswer(call, readSdkResult(result, request.cell.step));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw toProviderError(error, {
        now: Date.now(),
        secret: this.#options.apiKey,
        ...(this.#options.rules === undefined ? {} : { rules: this.#options.rules }),
      });
    }
  }

  async checkHealth(signal: AbortSignal): Promise<string | null> {
    return checkHealth({ url: `${this.#baseUrl}/models`, headers: this.#toHeaders(), signal });
  }

  /** The SDK's model is costly to build and keeps no state, so there is one for each name. */
  #toModel(model: string): OpenAICompatibleChatLanguageModel {
    const known = this.#models.get(model);
    if (known !== undefined) return known;
    const created = new OpenAICompatibleChatLanguageModel(model, {
      provider: 'assay.chat',
      headers: () => this.#toHeaders(),
      url: ({ path }) => `${this.#baseUrl}${path}`,
      fetch: (_input, init) => this.#send(init),
      transformRequestBody: (body) => this.#completeBody(body),
    });
    this.#models.set(model, created);
    return created;
  }

  #toHeaders(): { [name: string]: string } {
    return this.#options.apiKey === null ? {} : { authorization: `Bearer ${this.#options.apiKey}` };
  }

  #currentCall(): CallInFlight {
    const call = this.#inFlight.getStore();
    if (call === undefined) throw new Error('the AI SDK lost the context of the call');
    return call;
  }

  #completeBody(body: JsonObject): JsonObject {
    const { request, params } = this.#currentCall();
    const complete = completeBody(body, { model: request.model, params });
    return request.stream ? { ...complete, stream: true, stream_options: { include_usage: true } } : complete;
  }

  /** Stands in for `fetch`: sends, checks, and hands the SDK a body in the shape that it reads. */
  async #send(init: RequestInit | undefined): Promise<Response> {
    const call = this.#currentCall();
    const { request } = call;
    const answer = await exchangeChat(call, {
      url: `${this.#baseUrl}/chat/completions`,
      method: 'POST',
      headers: Object.fromEntries(new Headers(init?.headers).entries()),
      body: typeof init?.body === 'string' ? init.body : null,
      timeouts: request.timeouts,
      signal: call.signal,
    });
    call.body = readChatAnswer(answer);
    // Usage is read here: the SDK would turn what is missing into 0.
    const { id, choices } = call.body;
    return new Response(JSON.stringify({ id, choices }), { headers: { 'content-type': 'application/json' } });
  }
}

async function exchangeChat(call: CallInFlight, request: ExchangeRequest): Promise<ExchangeAnswer> {
  let stream: ChatStream | null = null;
  let head: ExchangeHead | null = null;
  const onHead = (seen: ExchangeHead): ChatStream | null => {
    const events = (seen.headers['content-type'] ?? '').toLowerCase().startsWith('text/event-stream');
    head = seen;
    stream = events && seen.status < 300 ? new ChatStream() : null;
    return stream;
  };
  const answer = await exchange({ ...request, onHead }).catch((error: unknown) => {
    return keepFinished(call, { error, stream, head });
  });
  const folded: ChatStream | null = stream;
  return folded === null ? answer : { ...answer, body: (folded as ChatStream).end() };
}

/** A stream that broke after the model had ended is a whole answer; asking again would pay twice. */
function keepFinished(
  call: CallInFlight,
  broken: { error: unknown; stream: ChatStream | null; head: ExchangeHead | null },
): ExchangeAnswer {
  const { stream, head, error } = broken;
  if (call.signal.aborted || stream === null || head === null || !stream.isFinished) throw error;
  call.notes.push('the connection broke after the answer was complete');
  return { ...head, body: '' };
}

function toCallOptions(request: ModelRequest, params: OpenAiParams): LanguageModelV3CallOptions {
  const maxOutputTokens = request.maxOutputTokens ?? params.maxOutputTokens;
  const stop = typeof params.stop === 'string' ? [params.stop] : params.stop;
  return {
    prompt: toPrompt(request.messages, { sendReasoning: params.sendReasoning ?? false }),
    tools: toSdkTools(request.tools),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
    ...(params.topP === undefined ? {} : { topP: params.topP }),
    ...(params.seed === undefined ? {} : { seed: params.seed }),
    ...(stop === undefined ? {} : { stopSequences: stop }),
    ...(params.presencePenalty === undefined ? {} : { presencePenalty: params.presencePenalty }),
    ...(params.frequencyPenalty === undefined ? {} : { frequencyPenalty: params.frequencyPenalty }),
    ...(params.reasoningEffort === undefined
      ? {}
      : { providerOptions: { assay: { reasoningEffort: params.reasoningEffort } } }),
  };
}

function toModelAnswer(call: CallInFlight, said: SdkAnswer): ModelAnswer {
  const raw = call.body?.usage ?? null;
  const stated = readChatUsage(raw);
  if (isNoEvidence(said.text, stated)) throw toNoEvidenceFault(said.text, stated);
  const counted = isCounted(stated, said);
  return {
    message: { role: 'assistant', text: said.text, reasoning: said.reasoning, toolCalls: said.toolCalls },
    finishReason: said.finishReason,
    usage: counted ? stated : UNKNOWN_USAGE,
    reportedCostUsd: readReportedCost(raw),
    answerId: call.body?.id ?? null,
    notes: [
      ...(call.body?.notes ?? []),
      ...call.notes,
      ...said.notes,
      ...(counted ? [] : ['the provider counted 0 tokens for an answer: taken as unknown']),
    ],
  };
}

/** Zero tokens in and out for an answer that says something means that the server does not count. */
const isCounted = (usage: Usage, said: SdkAnswer): boolean =>
  usage.inputTokens !== 0 ||
  usage.outputTokens !== 0 ||
  (said.text === '' && said.reasoning === null && said.toolCalls.length === 0);

const toNoEvidenceFault = (text: string, usage: Usage): Error =>
  createFault({
    class: 'no_evidence',
    retryable: false,
    message: `a success without a model's tokens, whose text is an error: ${text}`,
    usage,
  });
