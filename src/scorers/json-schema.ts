import { Ajv, type ValidateFunction } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';

const SETTINGS = { strict: false, allErrors: true, logger: false, validateFormats: false } as const;

const compiled = new Map<string, ValidateFunction>();
const KEPT = 100;

/** The compiled form of a schema, kept for the next answer: compiling takes longer than checking. */
export function toValidator(schema: object): ValidateFunction {
  const key = JSON.stringify(schema);
  const validate = compiled.get(key) ?? compileSchema(schema);
  if (compiled.size >= KEPT) compiled.clear();
  compiled.set(key, validate);
  return validate;
}

/**
 * Compiles a JSON Schema: draft 7, or the draft that its `$schema` names (2019-09, 2020-12).
 * `format` is an annotation, as the drafts say. No reference is fetched.
 * @throws Error that says what is wrong with the schema.
 */
export function compileSchema(schema: object): ValidateFunction {
  const draft = '$schema' in schema ? String(schema.$schema) : '';
  if (draft.includes('2020-12')) return new Ajv2020(SETTINGS).compile(schema);
  if (draft.includes('2019-09')) return new Ajv2019(SETTINGS).compile(schema);
  return new Ajv(SETTINGS).compile(schema);
}

/** What is wrong with a value, one sentence each, at most ten; none = valid. */
export function listSchemaErrors(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value) === true) return [];
  const errors = validate.errors ?? [];
  return errors.slice(0, 10).map((error) => {
    const place = error.instancePath === '' ? 'the value' : error.instancePath;
    return `${place} ${error.message ?? 'is not valid'}`;
  });
}
