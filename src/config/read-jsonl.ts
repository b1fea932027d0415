import { dirname } from 'node:path';
import { parseText } from './parse-document.ts';
import type { Problem } from './problem.ts';
import type { RawCase } from './raw-case.ts';
import { createLineSource } from './source.ts';
import type { Source } from './source.ts';
import { hasScalarText, parseJsonWritten } from './written.ts';

type ListFile = {
  readonly path: string;
  /** As the user named it. */
  readonly shown: string;
  readonly bytes: Buffer;
  readonly problems: Problem[];
};

const NEWLINE = 0x0a;

/** Cases of a JSON Lines file, one line in memory at a time. */
export function* readJsonLines({ path, shown, bytes, problems }: ListFile): Generator<RawCase> {
  const baseDir = dirname(path);
  let start = 0;
  for (let line = 1; start < bytes.length; line += 1) {
    const found = bytes.indexOf(NEWLINE, start);
    const end = found === -1 ? bytes.length : found;
    const from = start;
    start = end + 1;
    const text = bytes.toString('utf8', from, end);
    if (text.trim() === '') continue;
    const value = parseLine(text);
    const source = (): Source =>
      createJsonLineSource({ shown, line, text: bytes.toString('utf8', from, end) });
    if (value === undefined) problems.push(...parseJsonLine({ shown, line, text }).problems);
    else yield { value, source, place: { file: shown, line }, baseDir };
  }
}

function parseLine(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    const settled = hasScalarText(value) ? parseJsonWritten(text) : value;
    return holdsInfinity(text, settled) ? undefined : settled;
  } catch {
    return undefined;
  }
}

/** `1e999` is a number to JSON.parse and none to anybody else. */
const holdsInfinity = (text: string, value: unknown): boolean =>
  /\d[eE]\+?\d{3}/.test(text) && !isFinite(value);

const isFinite = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value !== 'object' || value === null || Object.values(value).every(isFinite);

type Line = { readonly shown: string; readonly line: number; readonly text: string };

const parseJsonLine = ({ shown, line, text }: Line) =>
  parseText({ file: shown, text, syntax: 'json', secrets: new Set(), linesBefore: line - 1 });

/** Long lines are not worth a syntax tree for a column. */
const MAX_TREE_LENGTH = 1_000_000;

const createJsonLineSource = (line: Line): Source =>
  line.text.length > MAX_TREE_LENGTH
    ? createLineSource(line.shown, line.line, line.text.slice(0, 200))
    : parseJsonLine(line).source;
