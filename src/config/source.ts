import type { Path } from './problem.ts';

export type Position = { readonly line: number; readonly column: number };

/** Where a value came from: turns a path in it into a place in a file. */
export interface Source {
  readonly file: string;
  /** Path of this value in its file; shown before the paths of problems. */
  readonly prefix: Path;
  /** Texts that no message may show. */
  readonly secrets: ReadonlySet<string>;
  /** Place of the value or key, or of the nearest thing around it that exists; null without lines. */
  locate(path: Path, at: 'key' | 'value'): Position | null;
  lineText(line: number): string | null;
}

/** The same file, seen from a value inside. */
export const within = (source: Source, path: Path): Source => ({
  file: source.file,
  prefix: [...source.prefix, ...path],
  secrets: source.secrets,
  locate: (inner, at) => source.locate([...path, ...inner], at),
  lineText: (line) => source.lineText(line),
});

/** A value that a program handed in: no lines. */
export const createValueSource = (file: string, secrets: ReadonlySet<string>): Source => ({
  file,
  prefix: [],
  secrets,
  locate: () => null,
  lineText: () => null,
});

/** One physical line of a file, such as a row of a table; columns are not known. */
export const createLineSource = (file: string, line: number, text: string): Source => ({
  file,
  prefix: [],
  secrets: new Set(),
  locate: () => ({ line, column: 1 }),
  lineText: () => text,
});
