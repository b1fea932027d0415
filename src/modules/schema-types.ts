import type { Json } from '../domain/json.ts';

/** Any zod 4 schema, of whichever copy of zod. */
export type ZodSchema = { readonly _zod: { readonly output: unknown; readonly input: unknown } };

/** JSON Schema of an object, as model providers take it. */
export type ObjectSchema = {
  readonly type: 'object';
  readonly properties?: { readonly [name: string]: object };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | object;
  readonly description?: string;
  readonly [keyword: string]: unknown;
};

/** What a schema says: zod's output type, or the type that a JSON Schema literal describes. */
export type ValueOf<Schema> = Schema extends { readonly _zod: { readonly output: infer Output } }
  ? Output
  : FromJsonSchema<Schema>;

/** The TypeScript type of a JSON Schema literal; what it cannot tell is any JSON. */
export type FromJsonSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly anyOf: readonly (infer Option)[] }
      ? FromJsonSchema<Option>
      : Schema extends { readonly type: infer Type }
        ? FromType<Type, Schema>
        : Json;

type FromType<Type, Schema> = Type extends 'string'
  ? string
  : Type extends 'number' | 'integer'
    ? number
    : Type extends 'boolean'
      ? boolean
      : Type extends 'null'
        ? null
        : Type extends 'array'
          ? readonly (Schema extends { readonly items: infer Item } ? FromJsonSchema<Item> : Json)[]
          : Type extends 'object'
            ? FromObject<Schema>
            : Type extends readonly (infer Option)[]
              ? FromType<Option, Schema>
              : Json;

type FromObject<Schema> = Schema extends { readonly properties: infer Properties }
  ? {
      readonly [Key in RequiredKeys<Schema> & keyof Properties]: FromJsonSchema<Properties[Key]>;
    } & {
      readonly [Key in Exclude<keyof Properties, RequiredKeys<Schema>>]?: FromJsonSchema<Properties[Key]>;
    }
  : { readonly [name: string]: Json };

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;
