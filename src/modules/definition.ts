/** Marks what `define*` made, also when a run file was made with another copy of Assay. */
export const DEFINITION: unique symbol = Symbol.for('assay.definition');

export type DefinitionKind = 'run' | 'config' | 'tool' | 'scorer' | 'provider';

/** A value that `define*` returned: its fields as given, and what it is. */
export type Defined<Kind extends DefinitionKind> = { readonly [DEFINITION]: Kind };

export const mark = <Kind extends DefinitionKind, Given extends object>(
  kind: Kind,
  given: Given,
): Given & Defined<Kind> => ({ ...given, [DEFINITION]: kind });

/** What a definition is called in a run file; providers go by their kind. */
export const nameOf = (definition: object): unknown =>
  Reflect.get(definition, kindOf(definition) === 'provider' ? 'kind' : 'name');

/** What kind of definition a value is, or null. */
export function kindOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null) return null;
  const kind: unknown = Reflect.get(value, DEFINITION);
  return typeof kind === 'string' ? kind : null;
}
