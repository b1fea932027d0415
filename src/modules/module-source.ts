import { getAt } from '../config/check-shape.ts';
import type { Path } from '../config/problem.ts';
import type { Position, Source } from '../config/source.ts';

type ModuleText = { readonly file: string; readonly text: string; readonly value: unknown };

/**
 * A run file in TypeScript as the place of problems. The line of a field is told where its name stands once in
 * the value and once in the file, since a value may come from anywhere; else the file alone is named.
 */
export function createModuleSource({ file, text, value }: ModuleText): Source {
  const lines = text.split(/\r?\n/);
  return {
    file,
    prefix: [],
    secrets: new Set(),
    locate: (path) => locate(lines, path, value),
    lineText: (line) => lines[line - 1] ?? null,
  };
}

function locate(lines: readonly string[], path: Path, value: unknown): Position | null {
  let known = path;
  while (known.length > 0 && getAt(value, known) === undefined) known = known.slice(0, -1);
  const key = known.findLast((step) => typeof step === 'string');
  if (key === undefined || countKey(value, key) !== 1) return null;
  const name = key.replaceAll(/[^\w]/g, '\\$&');
  const written = new RegExp(`(?<=^|[\\s{,])(?:${name}|'${name}'|"${name}")\\s*(?=:)`);
  const [first, second] = lines.flatMap((line, index) => (written.test(line) ? [index] : []));
  if (first === undefined || second !== undefined) return null;
  return { line: first + 1, column: (lines[first] ?? '').search(written) + 1 };
}

/** How often a key stands anywhere in a value. */
function countKey(value: unknown, key: string): number {
  if (typeof value !== 'object' || value === null) return 0;
  const own = !Array.isArray(value) && Object.hasOwn(value, key) ? 1 : 0;
  return Object.values(value).reduce((sum: number, item) => sum + countKey(item, key), own);
}
