import type { LanguageModelV3CallOptions } from '@ai-sdk/provider';
import type { ModelRequest } from './provider.ts';

/** Parameters that most APIs share, under Assay's names. */
type Sampling = {
  readonly temperature?: number | undefined;
  readonly topP?: number | undefined;
  readonly topK?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly seed?: number | undefined;
  readonly stop?: string | readonly string[] | undefined;
  readonly presencePenalty?: number | undefined;
  readonly frequencyPenalty?: number | undefined;
};

/** The shared parameters as the AI SDK takes them; what is unset is left out. */
export function toSampling(
  request: ModelRequest,
  params: Sampling,
): Omit<LanguageModelV3CallOptions, 'prompt'> {
  const { stop } = params;
  const options = {
    maxOutputTokens: request.maxOutputTokens ?? params.maxOutputTokens,
    temperature: params.temperature,
    topP: params.topP,
    topK: params.topK,
    seed: params.seed,
    stopSequences: typeof stop === 'string' ? [stop] : stop === undefined ? undefined : [...stop],
    presencePenalty: params.presencePenalty,
    frequencyPenalty: params.frequencyPenalty,
  };
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
}
