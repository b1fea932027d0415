import { z } from 'zod';
import { COMMON_OWN_FIELDS, commonParams, createExtraBody } from './extra-body.ts';

const extraBody = createExtraBody({
  ...COMMON_OWN_FIELDS,
  contents: 'they come from the case',
  systemInstruction: 'it comes from the case',
  generationConfig: 'set the parameters beside extraBody',
});

/** Parameters of a model of the Gemini API. Which of them a model takes is said in `param-rules.ts`. */
export const googleParams = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  ...commonParams,
  topK: z.int().min(1).optional(),
  seed: z.int().optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  /** Sent as the level of thinking (Gemini 3 and later). */
  reasoningEffort: z.enum(['minimal', 'low', 'medium', 'high']).optional(),
  /** Tokens that the model may think (Gemini 2.5); 0 = none, -1 = as it likes. */
  thinkingBudget: z.int().min(-1).optional(),
  /** Thoughts in the transcript, as summaries. */
  includeThoughts: z.boolean().optional(),
  /** Merged into the request body as it is, such as `safetySettings`. */
  extraBody: extraBody.optional(),
});

export type GoogleParams = z.infer<typeof googleParams>;
