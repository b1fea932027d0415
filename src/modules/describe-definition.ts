import * as z from 'zod';
import type { Json } from '../domain/json.ts';

/** How a function is written where only JSON can stand. */
export const FUNCTION = '[function]';

/** A definition as plain JSON for whoever checks it: functions by a word, zod schemas as JSON Schema. */
export function describeDefinition(definition: object): Json {
  const entries = Object.entries(definition).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([key, value]) => [key, describeField(key, value)])) as Json;
}

function describeField(key: string, value: unknown): Json {
  if (typeof value === 'function') return FUNCTION;
  if (key === 'parameters' || key === 'options' || key === 'params') return toSchema(value);
  try {
    return (JSON.parse(JSON.stringify(value) ?? 'null') ?? null) as Json;
  } catch {
    return null;
  }
}

/** A schema as JSON Schema; a text says why it cannot be one. */
function toSchema(value: unknown): Json {
  if (typeof value !== 'object' || value === null) return value as Json;
  if ('_def' in value && !('_zod' in value)) {
    return 'this schema is of an old zod: use zod 4, or `z` of "assay"';
  }
  try {
    if (!('_zod' in value)) return JSON.parse(JSON.stringify(value)) as Json;
    const { $schema: _dialect, ...schema } = z.toJSONSchema(value as unknown as z.ZodType, { io: 'input' });
    return JSON.parse(JSON.stringify(schema)) as Json;
  } catch (error) {
    return `no JSON Schema can be made of it: ${error instanceof Error ? error.message : String(error)}`;
  }
}
