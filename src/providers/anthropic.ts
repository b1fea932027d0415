import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { JsonObject } from '../domain/json.ts';
import { toPrompt, toSdkTools } from './ai-sdk.ts';
import { readAnthropicAnswer } from './anthropic-answer.ts';
import { anthropicParams } from './anthropic-params.ts';
import type { AnthropicParams } from './anthropic-params.ts';
import { AnthropicFolder } from './anthropic-stream.ts';
import { toSampling } from './sampling.ts';
import type { Wire, WireCall } from './wire.ts';

const API_VERSION = '2023-06-01';

/** Anthropic's messages API. Thoughts go back with their signatures, so that an agent's loop goes on. */
export const anthropicWire: Wire<AnthropicParams> = {
  params: anthropicParams,
  healthPath: '/models?limit=1',
  toHeaders: (apiKey) => ({
    'anthropic-version': API_VERSION,
    ...(apiKey === null ? {} : { 'x-api-key': apiKey }),
  }),
  createModel: async (name, { baseUrl, fetch }) => {
    const { createAnthropic } = await import('@ai-sdk/anthropic');
    // Without a key the SDK looks for one in the environment; the wire's headers replace it.
    return createAnthropic({ baseURL: baseUrl, apiKey: 'unused', fetch })(name);
  },
  toCallOptions,
  completeBody,
  createFolder: () => new AnthropicFolder(),
  readAnswer: readAnthropicAnswer,
};

function toCallOptions({ request, params }: WireCall<AnthropicParams>): LanguageModelV3CallOptions {
  const { thinking, reasoningEffort, promptCache } = params;
  return {
    ...toSampling(request, params),
    prompt: toPrompt(request.messages, { sendReasoning: false }),
    tools: toSdkTools(request.tools),
    providerOptions: {
      anthropic: {
        ...(thinking === undefined ? {} : { thinking }),
        ...(reasoningEffort === undefined ? {} : { effort: reasoningEffort }),
        ...(promptCache === true ? { cacheControl: { type: 'ephemeral' } } : {}),
      },
    },
  };
}

/** The SDK would add the thinking budget to the cap; a cap that was reserved is the cap that is sent. */
function completeBody(body: JsonObject, { request, params }: WireCall<AnthropicParams>): JsonObject {
  const cap = request.maxOutputTokens ?? params.maxOutputTokens;
  return {
    ...body,
    ...(cap === undefined ? {} : { max_tokens: cap }),
    ...params.extraBody,
    ...(request.stream ? { stream: true } : {}),
  };
}
