/** A number or boolean whose written text differs from how JSON would write it: `007`, `1.10`, `True`. */
export class Written {
  readonly value: number | boolean;
  readonly text: string;

  constructor(value: number | boolean, text: string) {
    this.value = value;
    this.text = text;
  }
}

export const isMap = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Written);

/** The scalar itself where JSON writes it the same way, else a `Written`. */
export const toWritten = (value: number | boolean, text: string | undefined): unknown =>
  text === undefined || text === JSON.stringify(value) ? value : new Written(value, text);

/** `JSON.parse` that remembers the written text of numbers. Throws `SyntaxError`. */
export const parseJsonWritten = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? toWritten(value, context?.source) : value,
  );

/** The value as a program reads it; written texts are dropped. Shares what needs no change. */
export function unwrap(value: unknown): unknown {
  if (value instanceof Written) return value.value;
  if (Array.isArray(value)) return value.some(mayHoldWritten) ? value.map(unwrap) : value;
  if (!isMap(value)) return value;
  const entries = Object.entries(value);
  return entries.some(([, item]) => mayHoldWritten(item))
    ? Object.fromEntries(entries.map(([key, item]) => [key, unwrap(item)]))
    : value;
}

const mayHoldWritten = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Fields of a case that are text whatever the file's syntax makes of them, themselves or their items. */
const TEXT_FIELDS = ['id', 'input', 'system', 'cluster', 'choices', 'tags', 'setup'] as const;

/** Whether a case read by plain `JSON.parse` must be read again for the text of its numbers. */
export function hasScalarText(raw: unknown): boolean {
  if (!isMap(raw)) return false;
  const fields = [raw['target'], raw['vars'], ...TEXT_FIELDS.map((field) => raw[field])];
  return fields.some((value) => isScalar(value) || itemsOf(value).some(isScalar));
}

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean';
const itemsOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : isMap(value) ? Object.values(value) : [];

/**
 * A case as its author wrote it: ids, texts, choices, tags and vars become the written text; a target
 * keeps numbers and booleans that JSON writes the same way and else becomes the written text.
 */
export function settleCase(raw: unknown): unknown {
  if (!isMap(raw)) return unwrap(raw);
  return Object.fromEntries(Object.entries(raw).map(([key, value]) => [key, settleField(key, value)]));
}

function settleField(key: string, value: unknown): unknown {
  if (key === 'target') return Array.isArray(value) ? value.map(toTarget) : toTarget(value);
  if (key === 'vars' && isMap(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toText(item)]));
  }
  if (!(TEXT_FIELDS as readonly string[]).includes(key)) return unwrap(value);
  return Array.isArray(value) ? value.map(toText) : toText(value);
}

const toTarget = (value: unknown): unknown => (value instanceof Written ? value.text : unwrap(value));

/** Scalars become text; anything else is left for the shape check. */
export const toText = (value: unknown): unknown =>
  value instanceof Written
    ? value.text
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : unwrap(value);
