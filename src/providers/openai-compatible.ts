import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { JsonObject } from '../domain/json.ts';
import { toPrompt, toSdkTools } from './ai-sdk.ts';
import { readChatAnswer } from './chat-answer.ts';
import { ChatFolder } from './chat-stream.ts';
import { readChatUsage, readReportedCost } from './chat-usage.ts';
import type { ExchangeAnswer } from './exchange.ts';
import { completeBody, openAiCompatibleParams } from './openai-compatible-params.ts';
import type { OpenAiCompatibleParams } from './openai-compatible-params.ts';
import { toSampling } from './sampling.ts';
import type { ModelHooks, Wire, WireAnswer, WireCall } from './wire.ts';

type Call = WireCall<OpenAiCompatibleParams>;

/** Chat completions behind any address that speaks OpenAI's form. */
export const openAiCompatibleWire: Wire<OpenAiCompatibleParams> = {
  params: openAiCompatibleParams,
  healthPath: '/models',
  toHeaders: (apiKey) => toBearer(apiKey),
  createModel: async (name: string, { baseUrl, fetch }: ModelHooks) => {
    const { OpenAICompatibleChatLanguageModel } = await import('@ai-sdk/openai-compatible');
    return new OpenAICompatibleChatLanguageModel(name, {
      provider: 'assay.chat',
      headers: () => ({}),
      url: ({ path }) => `${baseUrl}${path}`,
      fetch,
    });
  },
  toCallOptions,
  completeBody: (body, { request, params }) =>
    withStream(completeBody(body, { model: request.model, params }), request),
  createFolder: () => new ChatFolder(),
  readAnswer: readChatWire,
};

export const toBearer = (apiKey: string | null): { [name: string]: string } =>
  apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };

/** Asks for a stream whose last event counts the tokens. */
export const withStream = (body: JsonObject, request: { readonly stream: boolean }): JsonObject =>
  request.stream ? { ...body, stream: true, stream_options: { include_usage: true } } : body;

export function readChatWire(answer: ExchangeAnswer): WireAnswer {
  const { id, choices, usage, notes } = readChatAnswer(answer);
  return {
    body: { id, choices },
    usage: readChatUsage(usage),
    reportedCostUsd: readReportedCost(usage),
    answerId: id,
    notes,
  };
}

function toCallOptions({ request, params }: Call): LanguageModelV3CallOptions {
  return {
    ...toSampling(request, params),
    prompt: toPrompt(request.messages, { sendReasoning: params.sendReasoning ?? false }),
    tools: toSdkTools(request.tools),
    ...(params.reasoningEffort === undefined
      ? {}
      : { providerOptions: { assay: { reasoningEffort: params.reasoningEffort } } }),
  };
}
