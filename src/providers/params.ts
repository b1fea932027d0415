import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { createFault } from './provider-error.ts';
import type { CallFault } from './provider-error.ts';

/** Problems of parameters under a kind's schema, one line each. */
export const listParamProblems = (schema: ZodType, params: JsonObject): string[] =>
  (schema.safeParse(params).error?.issues ?? []).map(
    (issue) => `params${issue.path.map((part) => `.${String(part)}`).join('')}: ${issue.message}`,
  );

/** Reads checked parameters; what got past the preflight ends the call for good, without a retry. */
export function readParams<T>(schema: ZodType<T>, params: JsonObject): T {
  const read = schema.safeParse(params);
  if (read.success) return read.data;
  throw toParamsFault(listParamProblems(schema, params));
}

export const toParamsFault = (problems: readonly string[]): CallFault =>
  createFault({ class: 'bad_request', retryable: false, message: problems.join('; ') });
