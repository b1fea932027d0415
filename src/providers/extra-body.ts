import { z } from 'zod';

/**
 * Fields merged into the request body as they are. `own` names those that Assay sends itself, or that
 * would make a call cost more than was reserved, each with what to do instead.
 */
export const createExtraBody = (own: { readonly [field: string]: string }) =>
  z.record(z.string(), z.json()).superRefine((body, context) => {
    for (const name of Object.keys(body)) {
      const advice = Object.hasOwn(own, name) ? own[name] : undefined;
      if (advice === undefined) continue;
      context.addIssue({ code: 'custom', path: [name], message: `cannot be set here: ${advice}` });
    }
  });

/** Fields that mean the same in several APIs. */
export const COMMON_OWN_FIELDS = {
  model: 'set it as the model of this entry',
  messages: 'they come from the case',
  tools: 'they come from the harness',
  stream: 'set `stream` of the provider',
  stream_options: 'set `stream` of the provider',
  n: 'set `attempts.k` of the request',
  max_tokens: 'set maxOutputTokens',
} as const;

/** Parameters that most APIs share; ranges as the APIs document them. */
export const commonParams = {
  topP: z.number().min(0).max(1).optional(),
  maxOutputTokens: z.int().positive().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
};
