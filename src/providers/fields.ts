/** A JSON object whose fields are not checked yet. */
export type Fields = { readonly [name: string]: unknown };

export const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const toFields = (value: unknown): Fields => (isFields(value) ? value : {});

/** The objects of a list; anything else is left out. */
export const listFields = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? value.filter(isFields) : [];

/** The value if it is a text, else the empty one. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The first of the values that is a whole number of tokens, or null. */
export function firstCount(...values: readonly unknown[]): number | null {
  for (const value of values) {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  }
  return null;
}
