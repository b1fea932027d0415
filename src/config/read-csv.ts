import { dirname } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import type { Info } from 'csv-parse/sync';
import { findNearestField } from './nearest.ts';
import { toProblem } from './problem.ts';
import type { Problem } from './problem.ts';
import type { RawCase } from './raw-case.ts';
import { createLineSource } from './source.ts';
import type { Source } from './source.ts';

type ListFile = {
  readonly path: string;
  readonly shown: string;
  readonly bytes: Buffer;
  readonly problems: Problem[];
};

const TEXT_COLUMNS = ['id', 'input', 'target', 'system', 'cluster', 'setup'];
const LIST_COLUMNS = ['choices', 'tags', 'scorers'];
const MAP_COLUMNS = ['vars', 'metadata', 'files', 'limits'];
const COLUMNS = [...TEXT_COLUMNS, ...LIST_COLUMNS, ...MAP_COLUMNS, 'weight', 'skip'];

type Row = { readonly cells: readonly string[]; readonly line: number };

/**
 * Cases of a table with a header row. `vars.NAME` and `metadata.NAME` are columns as well. An empty cell is
 * an absent field; lists are JSON or parted by `|`; maps are JSON; every other cell is text as it stands.
 */
export function* readCsv(file: ListFile): Generator<RawCase> {
  const baseDir = dirname(file.path);
  const [header, ...rows] = readRows(file);
  if (header === undefined) return;
  const columns = readHeader(header, file);
  if (columns === null) return;
  for (const [index, row] of rows.entries()) {
    if (row.cells.length === header.cells.length) {
      const source = (): Source => toSource(file, row);
      yield { value: toCase(columns, row), source, place: { file: file.shown, line: row.line }, baseDir };
    } else {
      const message =
        `row ${index + 1} (line ${row.line}) has ${row.cells.length} cells, the header has ${header.cells.length}; ` +
        'put quotes around cells that hold a comma';
      file.problems.push(toProblem(toSource(file, row), { path: [], message }));
    }
  }
}

const toSource = ({ shown }: ListFile, { cells, line }: Row): Source =>
  createLineSource(shown, line, cells.join(',').split('\n')[0]?.slice(0, 200) ?? '');

function readRows(file: ListFile): readonly Row[] {
  try {
    const records = parse(file.bytes, {
      info: true,
      raw: true,
      relax_column_count: true,
      record_delimiter: ['\r\n', '\n', '\r'],
    }) as unknown as readonly { record: string[]; info: Info; raw: string }[];
    return records
      .map(({ record, info, raw }) => ({ cells: record, line: info.lines - countBreaks(raw) }))
      .filter(({ cells }) => cells.some((cell) => cell !== ''));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    const message = `not a valid CSV table: ${error.message.replace(/ at line \d+.*$/, '')}`;
    file.problems.push(toProblem(createLineSource(file.shown, line, ''), { path: [], message }));
    return [];
  }
}

/** Line breaks inside a record; the one that ends it does not count. */
const countBreaks = (raw: string): number => raw.trim().match(/\r\n|\n|\r/g)?.length ?? 0;

function readHeader(header: Row, file: ListFile): readonly string[] | null {
  const columns = header.cells.map((cell) => cell.trim());
  const fail = (message: string, suggestion: string | null = null): void => {
    file.problems.push(toProblem(toSource(file, header), { path: [], message, suggestion }));
  };
  const other = /[;\t]/.exec(columns[0] ?? '')?.[0];
  if (columns.length === 1 && other !== undefined) {
    const what = other === ';' ? 'semicolons' : 'tabs';
    fail(`the columns are parted by ${what}; save the table with commas as the delimiter`);
    return null;
  }
  for (const [index, column] of columns.entries()) {
    if (columns.indexOf(column) !== index) fail(`the column "${column}" stands twice in the header`);
    else if (!COLUMNS.includes(column) && !/^(vars|metadata)\../.test(column)) {
      const nearest = findNearestField(column, COLUMNS);
      fail(
        `unknown column "${column}"; known: ${COLUMNS.join(', ')}, vars.NAME, metadata.NAME`,
        nearest ?? `metadata.${column}`,
      );
    }
  }
  return columns;
}

function toCase(columns: readonly string[], row: Row): unknown {
  const fields: { [name: string]: unknown } = {};
  const nested: { [name: string]: { [name: string]: unknown } } = {};
  for (const [index, column] of columns.entries()) {
    const cell = row.cells[index] ?? '';
    if (cell === '') continue;
    const [, group, inner] = /^(vars|metadata)\.(.+)$/.exec(column) ?? [];
    if (group !== undefined && inner !== undefined) (nested[group] ??= {})[inner] = cell;
    else if (COLUMNS.includes(column)) fields[column] = readCell(column, cell);
  }
  for (const [group, values] of Object.entries(nested)) {
    const given = fields[group];
    fields[group] = typeof given === 'object' && given !== null ? { ...given, ...values } : values;
  }
  return fields;
}

function readCell(column: string, cell: string): unknown {
  if (column === 'weight') return /^\s*[+-]?[\d.]/.test(cell) ? Number(cell) : cell;
  if (column === 'skip') return readFlag(cell);
  if (MAP_COLUMNS.includes(column)) return parseJson(cell) ?? cell;
  if (!LIST_COLUMNS.includes(column)) return cell;
  const list = cell.trimStart().startsWith('[') ? parseJson(cell) : undefined;
  return list ?? cell.split('|').map((item) => item.trim());
}

function readFlag(cell: string): unknown {
  const plain = cell.trim().toLowerCase();
  return plain === 'true' ? true : plain === 'false' ? false : cell;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
