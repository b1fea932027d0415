import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import { toPrompt, toSdkTools } from './ai-sdk.ts';
import { readGoogleAnswer } from './google-answer.ts';
import { googleParams } from './google-params.ts';
import type { GoogleParams } from './google-params.ts';
import { GoogleFolder } from './google-stream.ts';
import { toSampling } from './sampling.ts';
import type { Wire, WireCall } from './wire.ts';

/** The Gemini API (Google AI for developers). Thought signatures go back with the parts that carried them. */
export const googleWire: Wire<GoogleParams> = {
  params: googleParams,
  healthPath: '/models?pageSize=1',
  toHeaders: (apiKey) => (apiKey === null ? {} : { 'x-goog-api-key': apiKey }),
  createModel: async (name, { baseUrl, fetch }) => {
    const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
    // Without a key the SDK looks for one in the environment; the wire's headers replace it.
    return createGoogleGenerativeAI({ baseURL: baseUrl, apiKey: 'unused', fetch })(name);
  },
  toCallOptions,
  completeBody: (body, { params }) => ({ ...body, ...params.extraBody }),
  toUrl: (url, { request }) =>
    request.stream ? url.replace(/:generateContent$/, ':streamGenerateContent?alt=sse') : url,
  createFolder: () => new GoogleFolder(),
  readAnswer: readGoogleAnswer,
};

function toCallOptions({ request, params }: WireCall<GoogleParams>): LanguageModelV3CallOptions {
  const { reasoningEffort, thinkingBudget, includeThoughts } = params;
  const thinkingConfig = {
    ...(reasoningEffort === undefined ? {} : { thinkingLevel: reasoningEffort }),
    ...(thinkingBudget === undefined ? {} : { thinkingBudget }),
    ...(includeThoughts === undefined ? {} : { includeThoughts }),
  };
  return {
    ...toSampling(request, params),
    prompt: toPrompt(request.messages, { sendReasoning: false }),
    tools: toSdkTools(request.tools),
    ...(Object.keys(thinkingConfig).length === 0 ? {} : { providerOptions: { google: { thinkingConfig } } }),
  };
}
