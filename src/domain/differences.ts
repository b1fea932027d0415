import { toCanonicalJson } from './canonical-json.ts';

/** One field in which two fingerprints differ; values as short JSON, null = it has no such field. */
export type Difference = {
  /** Path of names, such as `model.params.temperature`. */
  readonly field: string;
  readonly before: string | null;
  readonly after: string | null;
};

const MAX_VALUE = 80;

/** The fields in which two plain values differ, in the order of their names; equal values have none. */
export function listDifferences(before: unknown, after: unknown, field = ''): readonly Difference[] {
  if (toCanonicalJson(before) === toCanonicalJson(after)) return [];
  if (!isRecord(before) || !isRecord(after)) return [{ field, before: show(before), after: show(after) }];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  return keys.flatMap((key) =>
    listDifferences(before[key], after[key], field === '' ? key : `${field}.${key}`),
  );
}

const isRecord = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function show(value: unknown): string | null {
  if (value === undefined) return null;
  const text = toCanonicalJson(value);
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}

/** `model.params.temperature: 0 -> 0.7` */
export const formatDifference = ({ field, before, after }: Difference): string =>
  `${field}: ${before ?? 'absent'} -> ${after ?? 'absent'}`;
