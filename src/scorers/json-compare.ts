/** How much of an expected value is found in another: leaves counted, differences named (at most five). */
export type Comparison = {
  readonly matched: number;
  readonly expected: number;
  readonly differences: readonly string[];
};

/**
 * Compares leaf by leaf. `subset`: further keys are allowed; `exact`: they are differences. Arrays have equal
 * length and order in both. An expected value that is an empty object or array counts as one leaf.
 */
export function compareJson(expected: unknown, actual: unknown, mode: 'subset' | 'exact'): Comparison {
  const tally = { matched: 0, expected: 0, differences: [] as string[] };
  visit({ expected, actual, path: '$', mode, tally });
  return { ...tally, differences: tally.differences.slice(0, 5) };
}

type Visit = {
  readonly expected: unknown;
  readonly actual: unknown;
  readonly path: string;
  readonly mode: 'subset' | 'exact';
  readonly tally: { matched: number; expected: number; differences: string[] };
};

function visit(place: Visit): void {
  const { expected, actual, path, tally } = place;
  if (Array.isArray(expected)) return visitArray(place, expected);
  if (isObject(expected)) return visitObject(place, expected);
  tally.expected += 1;
  if (expected === actual) tally.matched += 1;
  else tally.differences.push(`${path} is ${describe(actual)}, expected ${describe(expected)}`);
}

function visitArray(place: Visit, expected: readonly unknown[]): void {
  const { actual, path, tally } = place;
  const isSameLength = Array.isArray(actual) && actual.length === expected.length;
  if (!isSameLength || expected.length === 0) return countWhole(place, isSameLength);
  expected.forEach((item, index) => {
    visit({ ...place, expected: item, actual: actual[index], path: `${path}[${index}]`, tally });
  });
}

function visitObject(place: Visit, expected: Record<string, unknown>): void {
  const { actual, path, mode, tally } = place;
  if (!isObject(actual)) return countWhole(place, false);
  const keys = Object.keys(expected);
  const extra = mode === 'exact' ? Object.keys(actual).filter((key) => !Object.hasOwn(expected, key)) : [];
  if (keys.length === 0) countWhole(place, extra.length === 0);
  for (const key of extra) tally.differences.push(`${path}.${key} is not expected`);
  if (extra.length > 0 && keys.length > 0) tally.expected += extra.length;
  for (const key of keys) {
    const value = Object.hasOwn(actual, key) ? actual[key] : undefined;
    visit({ ...place, expected: expected[key], actual: value, path: `${path}.${key}` });
  }
}

function countWhole({ expected, actual, path, tally }: Visit, isMatch: boolean): void {
  const leaves = countLeaves(expected);
  tally.expected += leaves;
  if (isMatch) tally.matched += leaves;
  else tally.differences.push(`${path} is ${describe(actual)}, expected ${describe(expected)}`);
}

function countLeaves(value: unknown): number {
  const items = Array.isArray(value) ? value : isObject(value) ? Object.values(value) : null;
  if (items === null || items.length === 0) return 1;
  return items.reduce<number>((sum, item) => sum + countLeaves(item), 0);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function describe(value: unknown): string {
  if (value === undefined) return 'missing';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  if (isObject(value)) return 'an object';
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}
