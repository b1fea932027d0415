import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';

/** Fields that Assay sends itself, or that would make a call cost more than was reserved. */
const OWN_FIELDS: { readonly [name: string]: string } = {
  model: 'set it as the model of this entry',
  messages: 'they come from the case',
  tools: 'they come from the harness',
  stream: 'set `stream` of the provider',
  stream_options: 'set `stream` of the provider',
  n: 'set `attempts.k` of the request',
  max_tokens: 'set maxOutputTokens',
  max_completion_tokens: 'set maxOutputTokens',
};

const extraBody = z.record(z.string(), z.json()).superRefine((body, context) => {
  for (const name of Object.keys(body)) {
    const advice = Object.hasOwn(OWN_FIELDS, name) ? OWN_FIELDS[name] : undefined;
    if (advice === undefined) continue;
    context.addIssue({ code: 'custom', path: [name], message: `cannot be set here: ${advice}` });
  }
});

/** Parameters of a model behind an OpenAI-compatible address. */
export const openAiParams = z.strictObject({
  temperature: z.number().optional(),
  topP: z.number().optional(),
  maxOutputTokens: z.int().positive().optional(),
  seed: z.int().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  presencePenalty: z.number().optional(),
  frequencyPenalty: z.number().optional(),
  reasoningEffort: z.string().optional(),
  /** Name under which the cap on output is sent; unset = by the model's name. */
  outputLimitField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  /** Whether earlier thoughts go back to the model; a few models demand them in tool loops. */
  sendReasoning: z.boolean().optional(),
  /** Merged into the request body as it is. */
  extraBody: extraBody.optional(),
});

export type OpenAiParams = z.infer<typeof openAiParams>;

/** OpenAI's reasoning models refuse `max_tokens`. */
const REASONING_MODEL = /^(?:openai\/)?(?:gpt-(?:[5-9]|\d\d)|o\d)(?:$|[-.:@])/i;

export const toOutputLimitField = (model: string, params: OpenAiParams): string =>
  params.outputLimitField ?? (REASONING_MODEL.test(model) ? 'max_completion_tokens' : 'max_tokens');

/** The body that the AI SDK made, with the cap under the right name and the extra fields on top. */
export function completeBody(body: JsonObject, call: { model: string; params: OpenAiParams }): JsonObject {
  const { max_tokens: limit, ...rest } = body;
  const field = toOutputLimitField(call.model, call.params);
  return { ...rest, ...(limit === undefined ? {} : { [field]: limit }), ...call.params.extraBody };
}
