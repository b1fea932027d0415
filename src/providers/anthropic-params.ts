import { z } from 'zod';
import { COMMON_OWN_FIELDS, commonParams, createExtraBody } from './extra-body.ts';

const thinking = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('adaptive'),
    display: z.enum(['omitted', 'summarized']).optional(),
  }),
  z.strictObject({ type: z.literal('enabled'), budgetTokens: z.int().min(1024) }),
  z.strictObject({ type: z.literal('disabled') }),
]);

/** Parameters of a model of Anthropic. Which of them a model takes is said in `param-rules.ts`. */
export const anthropicParams = z.strictObject({
  temperature: z.number().min(0).max(1).optional(),
  ...commonParams,
  topK: z.int().min(0).optional(),
  thinking: thinking.optional(),
  reasoningEffort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Keeps the growing prompt in the provider's cache for five minutes. */
  promptCache: z.boolean().optional(),
  /** Merged into the request body as it is. */
  extraBody: createExtraBody({ ...COMMON_OWN_FIELDS, system: 'it comes from the case' }).optional(),
});

export type AnthropicParams = z.infer<typeof anthropicParams>;
