import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { toPrompt, toSdkTools } from './ai-sdk.ts';
import { ChatFolder } from './chat-stream.ts';
import { readChatWire, toBearer, withStream } from './openai-compatible.ts';
import { openAiParams } from './openai-params.ts';
import type { OpenAiParams } from './openai-params.ts';
import type { ModelAnswer, ModelProvider, ModelRequest } from './provider.ts';
import { readResponsesAnswer } from './responses-answer.ts';
import { ResponsesFolder } from './responses-stream.ts';
import { toSampling } from './sampling.ts';
import { SdkProvider } from './sdk-provider.ts';
import type { SdkProviderOptions } from './sdk-provider.ts';
import type { ModelHooks, Wire, WireCall } from './wire.ts';

type Call = WireCall<OpenAiParams>;

/** Given to the SDK, which else looks for one in the environment; the wire's headers replace it. */
const NO_KEY = 'unused';

const createModel = async (name: string, { baseUrl, fetch }: ModelHooks, api: 'chat' | 'responses') => {
  const { createOpenAI } = await import('@ai-sdk/openai');
  return createOpenAI({ baseURL: baseUrl, apiKey: NO_KEY, fetch })[api](name);
};

export const openAiChatWire: Wire<OpenAiParams> = {
  params: openAiParams,
  healthPath: '/models',
  toHeaders: toBearer,
  createModel: (name, hooks) => createModel(name, hooks, 'chat'),
  toCallOptions: (call) => toCallOptions(call, {}),
  completeBody: (body, { request, params }) => withStream({ ...body, ...params.extraBody }, request),
  createFolder: () => new ChatFolder(),
  readAnswer: readChatWire,
};

export const openAiResponsesWire: Wire<OpenAiParams> = {
  params: openAiParams,
  healthPath: '/models',
  toHeaders: toBearer,
  createModel: (name, hooks) => createModel(name, hooks, 'responses'),
  // Nothing is stored there: the transcript carries the encrypted reasoning, so that any worker can go on.
  toCallOptions: (call) => toCallOptions(call, { store: false }),
  completeBody: (body, { request, params }) => ({
    ...body,
    ...params.extraBody,
    ...(request.stream ? { stream: true } : {}),
  }),
  createFolder: () => new ResponsesFolder(),
  readAnswer: readResponsesAnswer,
};

function toCallOptions(
  { request, params }: Call,
  own: { readonly store?: boolean },
): LanguageModelV3CallOptions {
  const { reasoningEffort, reasoningSummary, verbosity, serviceTier } = params;
  const options = {
    ...own,
    // Names that the SDK does not know are taken as models that do not reason, unless told.
    ...(reasoningEffort === undefined ? {} : { reasoningEffort, forceReasoning: true }),
    ...(reasoningSummary === undefined ? {} : { reasoningSummary }),
    ...(verbosity === undefined ? {} : { textVerbosity: verbosity }),
    ...(serviceTier === undefined ? {} : { serviceTier }),
  };
  return {
    ...toSampling(request, params),
    prompt: toPrompt(request.messages, { sendReasoning: false }),
    tools: toSdkTools(request.tools),
    providerOptions: { openai: options },
  };
}

/** OpenAI's own API: the responses API, or chat completions for models with `params.api: chat`. */
export class OpenAiProvider implements ModelProvider {
  readonly #chat: SdkProvider<OpenAiParams>;
  readonly #responses: SdkProvider<OpenAiParams>;

  constructor(options: SdkProviderOptions) {
    this.#chat = new SdkProvider(openAiChatWire, options);
    this.#responses = new SdkProvider(openAiResponsesWire, options);
  }

  async call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const provider = request.params['api'] === 'chat' ? this.#chat : this.#responses;
    return await provider.call(request, signal);
  }

  async checkHealth(signal: AbortSignal): Promise<string | null> {
    return await this.#responses.checkHealth(signal);
  }
}
