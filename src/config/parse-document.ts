import { isAlias, isMap as isYamlMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Alias, Document, YAMLMap } from 'yaml';
import { toProblem } from './problem.ts';
import type { Path, Problem } from './problem.ts';
import type { Position, Source } from './source.ts';
import { toWritten } from './written.ts';

export type Syntax = 'yaml' | 'json';

/** A file's value (numbers may be `Written`), or undefined when its syntax is broken. */
export type ParsedDocument = {
  readonly source: Source;
  readonly value: unknown;
  readonly problems: readonly Problem[];
};

type TextInput = {
  readonly file: string;
  readonly text: string;
  readonly syntax: Syntax;
  readonly secrets: ReadonlySet<string>;
  /** Lines before this text in its file. */
  readonly linesBefore?: number;
};

/** Values that aliases may repeat; an alias bomb stops here. */
const MAX_REPEATED = 500_000;
const MAX_DEPTH = 200;

/** Parses YAML or JSON and remembers where everything is. */
export function parseText(input: TextInput): ParsedDocument {
  const lines = new LineCounter();
  const document = parseDocument(input.text, { lineCounter: lines, keepSourceTokens: false, merge: false });
  const source = createDocumentSource(input, document, lines);
  const problems = findSyntaxProblems(input, { document, source, lines });
  if (problems.length > 0) return { source, value: undefined, problems };
  const reading: Reading = { document, aliases: 0, repeated: 0, resolved: new Map(), findings: [] };
  const value = readNode(document.contents, [], reading);
  return { source, value, problems: reading.findings.map((finding) => toProblem(source, finding)) };
}

function createDocumentSource(input: TextInput, document: Document, lines: LineCounter): Source {
  const before = input.linesBefore ?? 0;
  let textLines: readonly string[] | null = null;
  return {
    file: input.file,
    prefix: [],
    secrets: input.secrets,
    locate: (path, at) => {
      const { line, col } = lines.linePos(findOffset(document, path, at));
      return { line: line + before, column: col };
    },
    lineText: (line) => {
      textLines ??= input.text.split(/\r?\n/);
      return textLines[line - before - 1] ?? null;
    },
  };
}

function findOffset(document: Document, path: Path, at: 'key' | 'value'): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
    } else if (isYamlMap(node)) {
      const pair = node.items.find((item) => toKey(item.key) === step);
      if (pair === undefined) break;
      offset = startOf(pair.key) ?? offset;
      if (at === 'key' && index === path.length - 1) break;
      node = pair.value;
    } else {
      break;
    }
    offset = startOf(node) ?? offset;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined =>
  isScalar(node) || isSeq(node) || isYamlMap(node) || isAlias(node) ? node.range?.[0] : undefined;

const toKey = (key: unknown): string =>
  isScalar(key)
    ? typeof key.value === 'string'
      ? key.value
      : (key.source ?? String(key.value))
    : String(key);

type Parsed = { readonly document: Document.Parsed; readonly source: Source; readonly lines: LineCounter };

function findSyntaxProblems(input: TextInput, { document, source, lines }: Parsed): readonly Problem[] {
  const strictError = input.syntax === 'json' ? findJsonError(input.text) : null;
  const errors = document.errors.filter(
    (error) => input.syntax === 'yaml' || strictError !== null || error.code === 'DUPLICATE_KEY',
  );
  const place = (position: Position | null): Source => ({ ...source, locate: () => position });
  if (errors.length === 0 && strictError !== null) {
    const at = strictError.offset === null ? null : lines.linePos(strictError.offset);
    const position = at === null ? null : { line: at.line + (input.linesBefore ?? 0), column: at.col };
    const word = strictError.offset === null ? null : findNumberWord(input.text, strictError.offset);
    const hint = word === null ? '' : ` (JSON has no ${word}: write null, or the text "${word}")`;
    const message = `not valid JSON: ${strictError.message}${hint}`;
    return [toProblem(place(position), { path: [], message })];
  }
  return errors.map((error) => {
    const at = lines.linePos(error.pos[0]);
    const message = error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '';
    const position = { line: at.line + (input.linesBefore ?? 0), column: at.col };
    const name = input.syntax === 'json' ? 'JSON' : 'YAML';
    return toProblem(place(position), { path: [], message: `not valid ${name}: ${message}` });
  });
}

function findJsonError(text: string): { readonly message: string; readonly offset: number | null } | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      message: message.replace(/(?:, (?:\.{3})?"[\s\S]* is not valid JSON| in JSON at position[\s\S]*)$/, ''),
      offset: findJsonErrorOffset(text),
    };
  }
}

/** What JavaScript and Python write for numbers that JSON does not have. */
const findNumberWord = (text: string, offset: number): string | null =>
  /^(?:NaN|Infinity)\b/.exec(text.slice(offset, offset + 10))?.[0] ?? null;

/** Length of the shortest beginning that no continuation could mend, less one: by halving. */
function findJsonErrorOffset(text: string): number {
  let mendable = 0;
  let broken = text.length + 1;
  while (broken - mendable > 1) {
    const middle = Math.floor((mendable + broken) / 2);
    if (isMendable(text.slice(0, middle))) mendable = middle;
    else broken = middle;
  }
  return Math.max(0, Math.min(broken, text.length) - 1);
}

/** Whether a text is JSON or was only cut off. */
function isMendable(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    const position = /at position (\d+)/.exec(message)?.[1];
    return (
      message.includes('end of JSON input') || (position !== undefined && Number(position) >= text.length)
    );
  }
}

type Reading = {
  readonly document: Document;
  /** Aliases around the value that is being read. */
  aliases: number;
  repeated: number;
  readonly resolved: Map<Alias, unknown>;
  readonly findings: { readonly path: Path; readonly message: string }[];
};

const TOO_DEEP = 'the file is nested or repeated too deeply';

/** Plain values out of a syntax tree; what JSON cannot hold is a finding. */
function readNode(node: unknown, path: Path, reading: Reading): unknown {
  if (reading.aliases > 0) reading.repeated += 1;
  if (reading.repeated > MAX_REPEATED || path.length > MAX_DEPTH) {
    if (!reading.findings.some(({ message }) => message === TOO_DEEP)) {
      reading.findings.push({ path: path.slice(0, 3), message: TOO_DEEP });
    }
    return null;
  }
  if (isAlias(node)) return readAlias(node, path, reading);
  if (isSeq(node)) return node.items.map((item, index) => readNode(item, [...path, index], reading));
  if (isYamlMap(node)) return readMap(node, path, reading);
  if (!isScalar(node)) return null;
  const { value } = node;
  if (typeof value === 'bigint') return toWritten(Number(value), node.source);
  if (typeof value === 'boolean') return toWritten(value, node.source);
  if (typeof value !== 'number') return value ?? null;
  if (!Number.isFinite(value)) {
    reading.findings.push({ path, message: `expected a finite number, got ${node.source ?? String(value)}` });
    return 0;
  }
  return toWritten(value, node.source);
}

function readAlias(alias: Alias, path: Path, reading: Reading): unknown {
  if (!reading.resolved.has(alias)) reading.resolved.set(alias, alias.resolve(reading.document));
  reading.aliases += 1;
  const value = readNode(reading.resolved.get(alias), path, reading);
  reading.aliases -= 1;
  return value;
}

function readMap(map: YAMLMap, path: Path, reading: Reading): unknown {
  const entries: [string, unknown][] = [];
  const merged: [string, unknown][] = [];
  for (const pair of map.items) {
    const key = toKey(pair.key);
    const value = readNode(pair.value, [...path, key], reading);
    if (key !== '<<') entries.push([key, value]);
    else for (const part of [value].flat()) merged.push(...Object.entries(part ?? {}));
  }
  return Object.fromEntries([...merged.reverse(), ...entries]);
}
