import { z } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ParamProblem } from './params.ts';

export const MOCK_MODES = ['oracle', 'fixed', 'echo', 'empty', 'flaky', 'answers', 'script'] as const;
export type MockMode = (typeof MOCK_MODES)[number];

const waitMs = z.number().min(0).max(3_600_000);
const share = z.number().min(0).max(1);
const count = z.int().positive();

const latency = z.union([waitMs, z.tuple([waitMs, waitMs])]);
const usage = z.strictObject({ inputTokens: z.int().min(0), outputTokens: z.int().min(0) });

/** An answer that is none: an HTTP status with its text, or a kind of breakdown. */
const fault = z.strictObject({
  status: z.int().min(300).max(599).optional(),
  code: z.string().optional(),
  text: z.string().optional(),
  retryAfterMs: waitMs.optional(),
  kind: z.enum(['connection', 'time_out', 'hang', 'html', 'empty_choices', 'no_evidence']).optional(),
});

const step = z.strictObject({
  say: z.string().optional(),
  reasoning: z.string().optional(),
  tools: z
    .array(
      z.strictObject({
        name: z.string(),
        /** An object, or the raw text that the model is to have written. */
        arguments: z.union([z.record(z.string(), z.json()), z.string()]).default({}),
      }),
    )
    .optional(),
  finish: z.enum(['stop', 'length', 'tool_calls', 'content_filter', 'error', 'other']).optional(),
  usage: usage.optional(),
  latencyMs: latency.optional(),
  fault: fault.optional(),
  /** The fault meets requests up to this number of the call; unset = every one. */
  times: count.optional(),
});

const branches = z.strictObject({ good: z.array(step), bad: z.array(step) });

export const mockParams = z.strictObject({
  /** Draws of latency, accuracy and skill depend on it; 0 unless given. */
  seed: z.int().optional(),
  latencyMs: latency.optional(),
  usage: usage.optional(),
  faults: z
    .array(
      z.strictObject({
        /** An exact case id, or "*". */
        case: z.string().optional(),
        attempt: count.optional(),
        step: count.optional(),
        /** Requests up to this number of the call; unset = every one. */
        times: count.optional(),
        fault,
      }),
    )
    .optional(),
  maxOutputTokens: count.optional(),
  text: z.string().optional(),
  wrongText: z.string().optional(),
  accuracy: share.optional(),
  answers: z.record(z.string(), z.string()).optional(),
  skill: share.optional(),
  script: z.strictObject({ cases: z.record(z.string(), branches), default: branches.optional() }).optional(),
});

export type MockParams = z.infer<typeof mockParams>;
export type MockFault = z.infer<typeof fault>;
export type MockStep = z.infer<typeof step>;

/** Parameters without which a mode cannot answer. */
const MODE_NEEDS: { readonly [mode in MockMode]: readonly (keyof MockParams)[] } = {
  oracle: [],
  fixed: ['text'],
  echo: [],
  empty: [],
  flaky: ['accuracy'],
  answers: ['answers'],
  script: ['script'],
};

export const isMockMode = (name: string): name is MockMode => MOCK_MODES.some((mode) => mode === name);

/** An unknown mock model, and parameters without which a mock model cannot answer. */
export function checkMockModel(model: string, params: JsonObject): ParamProblem[] {
  if (!isMockMode(model)) {
    const message = `unknown mock model "${model}", expected one of ${MOCK_MODES.join(', ')}`;
    return [{ path: ['model'], message }];
  }
  return MODE_NEEDS[model]
    .filter((name) => !Object.hasOwn(params, name))
    .map((name) => ({ path: ['params', name], message: `mock model "${model}" needs params.${name}` }));
}
