const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === 'object' && value !== null;

/** Everything at a path such as `stats.models.*.tokens`; `*` = every member of a map or list. */
export function findPlaces(value: unknown, path: string): readonly unknown[] {
  return path
    .split('.')
    .reduce<readonly unknown[]>((found, step) => found.flatMap((one) => takeStep(one, step)), [value]);
}

function takeStep(value: unknown, step: string): readonly unknown[] {
  if (!isObject(value)) return [];
  if (step === '*') return Object.values(value);
  return Object.hasOwn(value, step) ? [value[step]] : [];
}

/** Whether each path has its text. */
export const isMeant = (value: unknown, where: { readonly [path: string]: string }): boolean =>
  Object.entries(where).every(([path, text]) => findPlaces(value, path).some((one) => String(one) === text));
