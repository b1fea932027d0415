import { z, type ZodType } from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ModuleScorer } from '../domain/run-module.ts';

/** How the options of a run file's scorer are checked: by its own JSON Schema; without one it takes none. */
export function toOptionsSchema({ options }: ModuleScorer): ZodType<JsonObject> {
  if (options === null) return z.strictObject({}) as ZodType<JsonObject>;
  return z.fromJSONSchema(options as never) as ZodType<JsonObject>;
}
