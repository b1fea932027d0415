import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json } from '../domain/json.ts';

/** Patterns of a schema are the tool's own matter: over a text of a model one may never end. */
const anyText = Object.assign(() => ({ test: () => true }), { code: 'anyText' });

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  validateFormats: false,
  logger: false,
  code: { regExp: anyText },
});

/** Schemas are the same objects from call to call; null = one that cannot be compiled. */
const compiled = new WeakMap<object, ValidateFunction | null>();

/** What does not fit the schema of a tool's arguments. Empty also where the schema is none that can be checked. */
export function findArgumentErrors(parameters: Json, value: unknown): readonly ErrorObject[] {
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)) return [];
  const check = compiled.get(parameters) ?? compile(parameters);
  if (check === null || check(value)) return [];
  return check.errors ?? [];
}

function compile(parameters: object): ValidateFunction | null {
  const known = compiled.get(parameters);
  if (known !== undefined) return known;
  const { $schema: _dialect, ...schema } = parameters as { readonly $schema?: unknown };
  let check: ValidateFunction | null = null;
  try {
    check = ajv.compile(schema);
    // The tool checks by itself.
  } catch {}
  ajv.removeSchema(schema);
  compiled.set(parameters, check);
  return check;
}

const SHOWN = 5;

/** Errors in words for a model, each behind the name of its argument. */
export function formatArgumentErrors(errors: readonly ErrorObject[]): string {
  const texts = errors.map(({ instancePath, keyword, params, message }) => {
    const path = instancePath.slice(1).replaceAll('/', '.');
    const { missingProperty, additionalProperty } = params as { readonly [name: string]: unknown };
    const inner = keyword === 'required' ? missingProperty : additionalProperty;
    const name = [path, inner].filter((part) => typeof part === 'string' && part !== '').join('.');
    if (keyword === 'required') return `${name}: is missing`;
    if (keyword === 'additionalProperties') return `${name}: there is no such argument`;
    return `${name === '' ? 'arguments' : name}: ${message ?? keyword}`;
  });
  return [...new Set(texts)].slice(0, SHOWN).join('; ');
}
