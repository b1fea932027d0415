import * as z from 'zod';
import { budgetsSchema, executionSchema, gatesSchema, providerSchema } from './run-file.ts';
import { jsonValue, object } from './shapes.ts';
import { isMap } from './written.ts';

/** `assay.config.ts`: what every run file of a project is given unless it says otherwise. */
export const configFileSchema = object({
  providers: z.array(providerSchema).optional(),
  execution: executionSchema.optional(),
  budgets: budgetsSchema.optional(),
  gates: gatesSchema.optional(),
  context: z.record(z.string(), jsonValue).optional(),
});

type Plain = { readonly [key: string]: unknown };

/**
 * A run file's value with the defaults of its project below it: providers by id, the other parts key by key. The
 * run file's own word wins.
 */
export function withDefaults(value: Plain, defaults: Plain): Plain {
  const joined: { [key: string]: unknown } = { ...value };
  for (const key of ['execution', 'budgets', 'gates', 'context']) {
    const [own, given] = [value[key], defaults[key]];
    if (isMap(given) && (own === undefined || isMap(own))) joined[key] = { ...given, ...own };
  }
  const [own, given] = [value['providers'] ?? [], defaults['providers'] ?? []];
  if (!Array.isArray(own) || !Array.isArray(given) || given.length === 0) return joined;
  const ids = new Set(own.map((provider: unknown) => (isMap(provider) ? provider['id'] : null)));
  const added = given.filter((provider: unknown) => isMap(provider) && !ids.has(provider['id']));
  return { ...joined, providers: [...own, ...added] };
}
