import { z } from 'zod';
import { COMMON_OWN_FIELDS, commonParams, createExtraBody } from './extra-body.ts';

const extraBody = createExtraBody({
  ...COMMON_OWN_FIELDS,
  input: 'it comes from the case',
  max_completion_tokens: 'set maxOutputTokens',
  max_output_tokens: 'set maxOutputTokens',
  store: 'nothing is stored; the transcript carries the reasoning',
  previous_response_id: 'the transcript is sent whole',
  conversation: 'the transcript is sent whole',
  background: 'answers are awaited',
});

/** Parameters of a model of OpenAI. Which of them a model takes is said in `param-rules.ts`. */
export const openAiParams = z.strictObject({
  /** `responses` unless given. */
  api: z.enum(['responses', 'chat']).optional(),
  temperature: z.number().min(0).max(2).optional(),
  ...commonParams,
  seed: z.int().optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  reasoningEffort: z.enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']).optional(),
  /** Thoughts in the transcript; only the responses API gives them. */
  reasoningSummary: z.enum(['auto', 'concise', 'detailed']).optional(),
  verbosity: z.enum(['low', 'medium', 'high']).optional(),
  serviceTier: z.enum(['auto', 'default', 'flex', 'priority']).optional(),
  /** Merged into the request body as it is. */
  extraBody: extraBody.optional(),
});

export type OpenAiParams = z.infer<typeof openAiParams>;
