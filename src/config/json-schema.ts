import * as z from 'zod';
import type { JsonObject } from '../domain/json.ts';
import type { ScorerCatalog } from './catalog.ts';
import { runFileSchema } from './run-file.ts';
import { inlineSuite, scorerEntry } from './shapes.ts';
import { suiteFileSchema } from './suite-file.ts';

type Schema = z.core.JSONSchema.BaseSchema;
type Definitions = { readonly [name: string]: Schema };

/** JSON Schemas for editors, made of the schemas that check the files. */
export function toJsonSchemas(scorers: ScorerCatalog): {
  readonly run: JsonObject;
  readonly suite: JsonObject;
} {
  const definitions = toScorerDefinitions(scorers);
  const scorer = { $ref: '#/$defs/scorer' };
  const suite = generate(suiteFileSchema, new Map([[scorerEntry, scorer]]));
  const run = generate(runFileSchema, new Map([[inlineSuite, { $ref: '#/$defs/suite' }]]));
  return {
    run: complete(run, 'Assay run file', { ...definitions, suite }),
    suite: complete(suite, 'Assay suite file', definitions),
  };
}

/** Plain JSON with its definitions, which say no dialect of their own. */
function complete({ $schema, ...schema }: Schema, title: string, definitions: Definitions): JsonObject {
  const $defs = Object.entries(definitions).map(([name, { $schema: _dialect, ...rest }]) => [name, rest]);
  const whole = { $schema, title, ...schema, $defs: { ...schema.$defs, ...Object.fromEntries($defs) } };
  return JSON.parse(JSON.stringify(whole)) as JsonObject;
}

const generate = (schema: z.ZodType, replaced: ReadonlyMap<z.core.$ZodType, Schema>): Schema =>
  z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const replacement = replaced.get(zodSchema);
      if (replacement === undefined) return;
      for (const key of Object.keys(jsonSchema)) Reflect.deleteProperty(jsonSchema, key);
      Object.assign(jsonSchema, replacement);
    },
  });

/** `scorer`: a kind alone, or a map of one kind with its own options; and what those options refer to. */
function toScorerDefinitions(scorers: ScorerCatalog): Definitions {
  const definitions: { [name: string]: Schema } = {};
  const maps = [...scorers].map(([kind, scorer]) => {
    const { $defs, ...map } = toKindSchema(kind, scorer.options);
    Object.assign(definitions, $defs);
    return map;
  });
  return { scorer: { anyOf: [{ type: 'string', enum: [...scorers.keys()] }, ...maps] }, ...definitions };
}

function toKindSchema(kind: string, options: z.ZodType): Schema {
  const generated = JSON.stringify(z.toJSONSchema(options, { io: 'input', unrepresentable: 'any' }));
  const own = JSON.parse(generated.replaceAll('#/$defs/', `#/$defs/${kind}_`)) as Schema;
  const $defs = Object.entries(own.$defs ?? {}).map(([name, schema]) => [`${kind}_${name}`, schema]);
  return {
    type: 'object',
    properties: {
      kind: { const: kind },
      name: { type: 'string' },
      weight: { type: 'number', minimum: 0, default: 1 },
      threshold: { type: 'number', minimum: 0, maximum: 1, default: 1 },
      required: { type: 'boolean', default: true },
      ...own.properties,
    },
    required: ['kind', ...(own.required ?? [])],
    additionalProperties: own.properties === undefined,
    $defs: Object.fromEntries($defs),
  };
}
