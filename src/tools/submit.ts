import { z } from 'zod';
import { toToolPolicy } from '../domain/tool-policy.ts';
import { parseArguments, toParameters } from './create-tool.ts';
import type { Tool } from './tool.ts';

const parameters = z.strictObject({
  answer: z.string().describe('The final answer, complete: nothing else that you said is looked at.'),
});

/** Ends the agent with an answer. Has no effect of its own, so that it may be asked for again. */
export const submit: Tool = {
  schema: {
    name: 'submit',
    description: 'Hand in the final answer and end. Call it alone and last: what follows it is not run.',
    parameters: toParameters(parameters),
  },
  policy: toToolPolicy({ idempotent: true }),
  place: 'free',
  run: async (args) => {
    const parsed = parseArguments('submit', parameters, args);
    if (parsed.kind === 'wrong') return { status: 'error', text: parsed.text };
    return { status: 'success', text: 'Submitted.', final: parsed.value.answer };
  },
};
