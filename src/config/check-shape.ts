import type * as z from 'zod';
import { SHOWN_CHARACTERS } from './literal-keys.ts';
import { findNearest, findNearestField } from './nearest.ts';
import { formatPath, toProblem } from './problem.ts';
import type { Finding, Path, Problem } from './problem.ts';
import { EXPECTED } from './shapes.ts';
import type { Source } from './source.ts';
import { isMap } from './written.ts';

/**
 * Checks a value against a schema and adds every deviation to `problems`. What is wrong is left out and the
 * rest is read again, so that later checks still see it; null when too little is left.
 */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  at: { readonly source: Source; readonly problems: Problem[] },
): z.output<Schema> | null {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const findings = result.error.issues.flatMap((issue) => explain(nameKeys(issue, schema), value, []));
  at.problems.push(...findings.map((finding) => toProblem(at.source, finding)));
  const rest = schema.safeParse(dropWrong(value, findings));
  return rest.success ? rest.data : null;
}

/** Without the unknown keys, and without the whole top-level field around anything else that is wrong. */
const dropWrong = (value: unknown, findings: readonly Finding[]): unknown =>
  findings.reduce((rest, { path, at }) => omitAt(rest, at === 'key' ? path : path.slice(0, 1)), value);

/** A copy along the path without the key at its end; lists keep their length. */
export function omitAt(value: unknown, [step, ...rest]: Path): unknown {
  if (Array.isArray(value) && typeof step === 'number' && rest.length > 0) {
    return value.map((item, index) => (index === step ? omitAt(item, rest) : item));
  }
  if (!isMap(value) || typeof step !== 'string' || !Object.hasOwn(value, step)) return value;
  const { [step]: inner, ...others } = value;
  return rest.length === 0 ? others : { ...others, [step]: omitAt(inner, rest) };
}

export const getAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (node, step) => (typeof node === 'object' && node !== null ? Reflect.get(node, step) : undefined),
    value,
  );

type Issue = z.core.$ZodIssue;

/** Schemas made elsewhere do not say which keys they know. */
function nameKeys(issue: Issue, schema: z.ZodType): Issue {
  if (issue.code !== 'unrecognized_keys' || issue.message.startsWith(EXPECTED)) return issue;
  if (issue.path.length > 0 || !('shape' in schema) || !isMap(schema.shape)) return issue;
  return { ...issue, message: `${EXPECTED}one of ${Object.keys(schema.shape).join(', ')}` };
}

function explain(issue: Issue, value: unknown, before: Path): readonly Finding[] {
  const path = [...before, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))];
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => explainKey(key, path, issue.message));
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    return chooseBranch(issue.errors, getAt(value, path)).flatMap((inner) => explain(inner, value, path));
  }
  const got = getAt(value, path);
  const expected = toExpected(issue);
  if (expected === null) return [{ path, message: issue.message, got: describe(got) }];
  const known = toKnownNames(issue);
  const suggestion = typeof got === 'string' ? findNearest(got, known) : null;
  const message =
    got === undefined
      ? `"${path.at(-1) ?? ''}" is missing: expected ${expected}`
      : `expected ${expected}, got ${describe(got)}${toHint(issue, got)}`;
  return [{ path, message, expected, got: describe(got), suggestion }];
}

function explainKey(key: string, path: Path, message: string): Finding {
  const known = message.startsWith(EXPECTED) ? message.slice(`${EXPECTED}one of `.length).split(', ') : [];
  const place = path.length === 0 ? 'here' : `in ${formatPath(path)}`;
  return {
    path: [...path, key],
    at: 'key',
    message: `unknown key "${key}"${known.length === 0 ? '' : `; known ${place}: ${known.join(', ')}`}`,
    expected: known.length === 0 ? null : known.join(', '),
    got: key,
    suggestion: findNearestField(key, known),
  };
}

/** The branch of a union that the author most likely meant: the one whose outer form fits. */
function chooseBranch(branches: readonly Issue[][], got: unknown): readonly Issue[] {
  const isOuter = (issue: Issue): boolean =>
    issue.path.length === 0 && (issue.code === 'invalid_type' || issue.code === 'invalid_value');
  const fitting = branches.filter((issues) => !issues.some(isOuter));
  const shortest = fitting.toSorted((a, b) => a.length - b.length)[0];
  if (shortest !== undefined) return shortest;
  const named = branches.find((issues) => issues.some((issue) => issue.code === 'invalid_value'));
  if (named !== undefined && typeof got === 'string') return named;
  const expected = branches.flatMap((issues) => issues.map(toExpected)).filter((text) => text !== null);
  const message = `${EXPECTED}${[...new Set(expected)].join(' or ')}`;
  return [{ code: 'custom', path: [], message, input: got }];
}

const TYPE_NAMES: { readonly [type: string]: string } = {
  string: 'text',
  object: 'a map',
  record: 'a map',
  array: 'a list',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  null: 'null',
};

function toExpected(issue: Issue): string | null {
  if (issue.message.startsWith(EXPECTED)) return issue.message.slice(EXPECTED.length);
  switch (issue.code) {
    case 'invalid_type':
      return TYPE_NAMES[issue.expected] ?? issue.expected;
    case 'invalid_value':
      return issue.values.length === 1
        ? JSON.stringify(issue.values[0])
        : `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return issue.origin === 'array'
        ? `a list of at least ${issue.minimum}`
        : `${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`;
    case 'too_big':
      return `${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`;
    case 'invalid_union':
      return toOptions(issue).length === 0 ? null : `one of ${toOptions(issue).join(', ')}`;
    case 'not_multiple_of':
      return `a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return issue.format === 'regex' ? null : `a text of the form ${issue.format}`;
    case 'custom':
    case 'invalid_key':
    case 'invalid_element':
    case 'unrecognized_keys':
      return null;
  }
}

function toKnownNames(issue: Issue): readonly string[] {
  if (issue.code === 'invalid_value') return issue.values.map(String);
  return toOptions(issue);
}

/** The kinds that a union of kinds knows. */
const toOptions = (issue: Issue): readonly string[] =>
  issue.code === 'invalid_union' && issue.inclusive !== false ? (issue.options ?? []).map(String) : [];

const toHint = (issue: Issue, got: unknown): string =>
  issue.code === 'invalid_type' &&
  !issue.message.startsWith(EXPECTED) &&
  issue.expected === 'string' &&
  (typeof got === 'number' || typeof got === 'boolean')
    ? ' (put it in quotes)'
    : '';

/** What came, in words a message can hold. */
export function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'string') {
    return `text ${JSON.stringify(value.length > SHOWN_CHARACTERS + 3 ? `${value.slice(0, SHOWN_CHARACTERS)}...` : value)}`;
  }
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === 'object') return 'a map';
  return `${typeof value} ${JSON.stringify(value) ?? 'undefined'}`;
}
