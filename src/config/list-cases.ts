import { dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import picomatch from 'picomatch';
import { globSync } from 'tinyglobby';
import type { Gathered } from './catalog.ts';
import { describe } from './check-shape.ts';
import { parseText } from './parse-document.ts';
import type { ParsedDocument } from './parse-document.ts';
import { toProblem } from './problem.ts';
import type { RawCase } from './raw-case.ts';
import { readCsv } from './read-csv.ts';
import { readTextBytes } from './read-file.ts';
import { readJsonLines } from './read-jsonl.ts';
import { within } from './source.ts';
import type { Source } from './source.ts';

/** A file on disk and what the user calls it. */
export type NamedFile = { readonly path: string; readonly shown: string };

/** Above this, a syntax tree of YAML or JSON takes gigabytes; a list of cases belongs into JSON Lines then. */
const MAX_TREE_BYTES = 16 * 1024 * 1024;

export type CaseFile =
  | { readonly kind: 'cases'; readonly cases: Iterable<RawCase> }
  | { readonly kind: 'document'; readonly document: ParsedDocument }
  | { readonly kind: 'failed' };

type Asked = { readonly from: Source; readonly gathered: Gathered };

/** Opens a file of cases or a suite file; `asked.from` is where it was named, for the message. */
export function openCaseFile(file: NamedFile, asked: Asked): CaseFile {
  const fail = (message: string, suggestion: string | null = null): CaseFile => {
    asked.gathered.problems.push(toProblem(asked.from, { path: [], message, suggestion }));
    return { kind: 'failed' };
  };
  const extension = extname(file.path).toLowerCase();
  if (!['.jsonl', '.ndjson', '.csv', '.json', '.yaml', '.yml'].includes(extension)) {
    const message = `"${file.shown}": cannot tell what it holds; expected .yaml, .yml, .json, .jsonl, .ndjson or .csv`;
    return fail(message);
  }
  const read = readTextBytes(file.path, file.shown);
  if (read.kind === 'failed') return fail(read.message, read.suggestion);
  const { problems } = asked.gathered;
  const list = { ...file, bytes: read.bytes, problems };
  if (extension === '.csv') return { kind: 'cases', cases: readCsv(list) };
  if (extension === '.jsonl' || extension === '.ndjson') return { kind: 'cases', cases: readJsonLines(list) };
  if (read.bytes.length > MAX_TREE_BYTES) {
    return fail(
      `"${file.shown}" is larger than 16 MiB; put its cases into a .jsonl file (one JSON object a line), which may be of any size`,
    );
  }
  const syntax = extension === '.json' ? 'json' : 'yaml';
  const document = parseText({
    file: file.shown,
    text: read.bytes.toString('utf8'),
    syntax,
    secrets: new Set(),
  });
  problems.push(...document.problems);
  return document.value === undefined ? { kind: 'failed' } : { kind: 'document', document };
}

/** The items of a list in a parsed document as cases. */
export function* listItems(list: readonly unknown[], source: Source, baseDir: string): Generator<RawCase> {
  for (const [index, value] of list.entries()) {
    const line = source.locate([index], 'value')?.line ?? null;
    yield { value, source: () => within(source, [index]), place: { file: source.file, line }, baseDir };
  }
}

/** The files that a path or glob in `cases` names, sorted; none is a problem. */
export function* listNamedCases(pattern: string, folder: NamedFile, asked: Asked): Generator<RawCase> {
  for (const file of findFiles(pattern, folder, asked)) {
    const opened = openCaseFile(file, asked);
    if (opened.kind === 'cases') {
      yield* opened.cases;
    } else if (opened.kind === 'document') {
      const { value, source } = opened.document;
      if (Array.isArray(value)) {
        yield* listItems(value, source, dirname(file.path));
      } else {
        const message = `expected a list of cases, got ${describe(value)} (a suite cannot be part of another)`;
        asked.gathered.problems.push(toProblem(source, { path: [], message }));
      }
    }
  }
}

function findFiles(pattern: string, folder: NamedFile, asked: Asked): readonly NamedFile[] {
  const toShown = (path: string): string => join(folder.shown, path).split(sep).join('/');
  if (!picomatch.scan(pattern).isGlob) {
    const shown = isAbsolute(pattern) ? pattern : toShown(pattern);
    return [{ path: resolve(folder.path, pattern), shown }];
  }
  const found = globSync(pattern, { cwd: folder.path, absolute: true, expandDirectories: false }).toSorted();
  if (found.length === 0) {
    asked.gathered.problems.push(
      toProblem(asked.from, { path: [], message: `no file matches "${pattern}"` }),
    );
  }
  return found.map((path) => ({ path, shown: toShown(relative(folder.path, path)) }));
}
