import { z } from 'zod';
import type { ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import { createFault } from './provider-error.ts';
import type { CallFault } from './provider-error.ts';

/** Steps from a model to a field of it, and what is wrong there. */
export type ParamProblem = { readonly path: readonly (string | number)[]; readonly message: string };

/** Problems of parameters under a kind's schema; a name that it does not have is named with those that it has. */
export const listParamProblems = (schema: ZodType, params: JsonObject): ParamProblem[] =>
  (schema.safeParse(params).error?.issues ?? []).flatMap((issue): ParamProblem[] => {
    const path = ['params', ...issue.path.map((part) => (typeof part === 'symbol' ? String(part) : part))];
    if (issue.code !== 'unrecognized_keys' || issue.path.length > 0)
      return [{ path, message: issue.message }];
    const possible =
      schema instanceof z.ZodObject ? `; possible: ${Object.keys(schema.shape).join(', ')}` : '';
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: `unknown parameter "${key}"${possible}`,
    }));
  });

/** One line: `params.temperature: expected a number`. */
export const formatParamProblem = ({ path, message }: ParamProblem): string =>
  `${path.join('.')}: ${message}`;

/** Reads checked parameters; what got past the preflight ends the call for good, without a retry. */
export function readParams<T>(schema: ZodType<T>, params: JsonObject): T {
  const read = schema.safeParse(params);
  if (read.success) return read.data;
  throw toParamsFault(listParamProblems(schema, params).map(formatParamProblem));
}

export const toParamsFault = (problems: readonly string[]): CallFault =>
  createFault({ class: 'bad_request', retryable: false, message: problems.join('; ') });
