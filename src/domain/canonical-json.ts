/**
 * JSON that is equal for equal values: keys in the order of their code units, absent and undefined the same. For
 * fingerprints; `null` stays.
 */
export function toCanonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, field]) => `${JSON.stringify(key)}:${toCanonicalJson(field)}`);
  return `{${fields.join(',')}}`;
}
