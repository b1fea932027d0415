import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { COMMON_OWN_FIELDS, createExtraBody } from './extra-body.ts';

const extraBody = createExtraBody({ ...COMMON_OWN_FIELDS, max_completion_tokens: 'set maxOutputTokens' });

/** Parameters of a model behind an OpenAI-compatible address. */
export const openAiCompatibleParams = z.strictObject({
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

export type OpenAiCompatibleParams = z.infer<typeof openAiCompatibleParams>;

/** OpenAI's reasoning models refuse `max_tokens`. */
const REASONING_MODEL = /^(?:openai\/)?(?:gpt-(?:[5-9]|\d\d)|o\d)(?:$|[-.:@])/i;

export const toOutputLimitField = (model: string, params: OpenAiCompatibleParams): string =>
  params.outputLimitField ?? (REASONING_MODEL.test(model) ? 'max_completion_tokens' : 'max_tokens');

/** The body that the AI SDK made, with the cap under the right name and the extra fields on top. */
export function completeBody(
  body: JsonObject,
  call: { model: string; params: OpenAiCompatibleParams },
): JsonObject {
  const { max_tokens: limit, ...rest } = body;
  const field = toOutputLimitField(call.model, call.params);
  return { ...rest, ...(limit === undefined ? {} : { [field]: limit }), ...call.params.extraBody };
}
