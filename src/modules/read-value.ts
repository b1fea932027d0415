import { kindOf, nameOf } from './definition.ts';

type Path = readonly (string | number)[];

/** What a module's value holds once it is plain JSON. */
export type ReadValue = {
  readonly value: unknown;
  readonly problems: { readonly path: Path; readonly message: string }[];
  /** Tools and scorers in order of appearance, each where it was first seen. */
  readonly definitions: Map<object, Path>;
};

const MAX_DEPTH = 200;

/**
 * A value that a module exports as plain JSON: a definition becomes its name and is remembered; what JSON cannot
 * hold is a problem at its path.
 */
export function readValue(value: unknown): ReadValue {
  const reading: Reading = { problems: [], definitions: new Map(), around: new Set() };
  const plain = readNode(value, [], reading);
  return { value: plain, problems: reading.problems, definitions: reading.definitions };
}

type Reading = Omit<ReadValue, 'value'> & { readonly around: Set<object> };

function readNode(node: unknown, path: Path, reading: Reading): unknown {
  const wrong = (message: string): null => {
    reading.problems.push({ path, message });
    return null;
  };
  if (node === null || typeof node === 'string' || typeof node === 'boolean') return node;
  if (typeof node === 'number')
    return Number.isFinite(node) ? node : wrong(`expected a finite number, got ${node}`);
  if (typeof node !== 'object') return wrong(explainType(typeof node));
  const kind = path.length === 0 ? null : kindOf(node);
  if (kind === 'tool' || kind === 'scorer' || kind === 'provider') {
    if (!reading.definitions.has(node)) reading.definitions.set(node, path);
    return nameOf(node);
  }
  if (reading.around.has(node)) return wrong('a value cannot hold itself');
  if (path.length > MAX_DEPTH) return wrong('nested too deeply');
  if (!Array.isArray(node) && !isPlain(node)) return wrong(explainObject(node));
  reading.around.add(node);
  const plain = Array.isArray(node)
    ? node.map((item: unknown, index) => readNode(item, [...path, index], reading))
    : readEntries(node, path, reading);
  reading.around.delete(node);
  return plain;
}

const readEntries = (node: object, path: Path, reading: Reading): object =>
  Object.fromEntries(
    Object.entries(node)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, readNode(item, [...path, key], reading)]),
  );

function isPlain(node: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(node);
  return prototype === null || prototype === Object.prototype;
}

const explainType = (type: string): string =>
  type === 'function'
    ? 'a function cannot stand here: code belongs into defineTool or defineScorer'
    : `expected plain data, got ${type === 'undefined' ? 'nothing (undefined)' : `a ${type}`}`;

const explainObject = (node: object): string =>
  node instanceof Promise
    ? 'expected plain data, got a promise: write "await" before it'
    : `expected plain data, got a ${node.constructor?.name ?? 'object'}`;
