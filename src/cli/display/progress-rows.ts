import { sumProgress } from '../../client/progress.ts';
import { toPrintable } from '../../reports/terminal-text.ts';
import type { ProgressRow } from '../../store/progress.ts';
import { formatDuration, formatUsd } from '../format.ts';
import type { ProgressView, Screen } from './progress-view.ts';
import { fitMiddle, padEnd, padStart, toWidth } from './text-width.ts';

const HEADS = ['done', 'pass', 'errors', 'unscored', 'cost', 'in flight', 'waits', 'left'] as const;
type Head = (typeof HEADS)[number];
/** Columns that a narrow terminal does without, first to go first. */
const DISPENSABLE: readonly Head[] = ['waits', 'unscored', 'in flight', 'left', 'cost', 'errors'];
const NAME_HEAD = 'request / model';
const MIN_NAME = 24;
const GAP = 2;
/** `1h 20m`: so that the table does not shift as the time goes by. */
const MIN_LEFT = 7;

type Row = {
  readonly name: string;
  readonly counts: Omit<ProgressRow, 'requestIndex' | 'requestName' | 'modelId' | 'meanScore'>;
  readonly remainingMs: number | null;
};

/** The heads and `room` lines: models, those that have no line of their own summed up in the last one. */
export function formatRows(view: ProgressView, { width, colors }: Screen, room: number): readonly string[] {
  const rows = chooseRows(view, room);
  const fields = rows.map(toFields);
  const widths = new Map(HEADS.map((head) => [head, columnWidth(head, fields)]));
  const heads = chooseHeads(widths, width);
  const taken = heads.reduce((sum, head) => sum + GAP + (widths.get(head) ?? 0), 0);
  const fit = (name: string): string => fitMiddle(name, Math.max(1, width - 1 - taken));
  const names = rows.map(({ name }) => fit(name));
  const first = Math.max(...[fit(NAME_HEAD), ...names].map(toWidth));
  const toLine = (name: string, cell: (head: Head) => string): string =>
    [padEnd(name, first), ...heads.map((head) => padStart(cell(head), widths.get(head) ?? 0))].join('  ');
  const lines = rows.map((row, index) => {
    const line = toLine(names[index] ?? '', (head) => fields[index]?.[head] ?? '');
    return row.counts.errors > 0 ? colors.yellow(line) : line;
  });
  return [
    colors.dim(toLine(fit(NAME_HEAD), (head) => head)),
    ...Array.from({ length: room }, (_, index) => lines[index] ?? ''),
  ];
}

/** All rows when they fit, else those with work left first, in their order, and the rest as one. */
function chooseRows({ progress, lineRemainingMs }: ProgressView, room: number): readonly Row[] {
  const rows = progress.rows.map((line, index) => ({
    line,
    name: toPrintable(`${line.requestName} / ${line.modelId}`),
    counts: line,
    remainingMs: lineRemainingMs[index] ?? null,
  }));
  if (rows.length <= room) return rows;
  const isDone = ({ line }: (typeof rows)[number]): boolean => line.done >= line.planned;
  const ordered = [...rows.filter((row) => !isDone(row)), ...rows.filter(isDone)];
  const shown = ordered.slice(0, Math.max(0, room - 1));
  const hidden = ordered.slice(shown.length);
  const times = hidden.filter((row) => !isDone(row)).map((row) => row.remainingMs);
  const rest = {
    name: `and ${hidden.length} more`,
    counts: sumProgress(hidden.map(({ line }) => line)),
    remainingMs: times.reduce((most, one) => (most === null || one === null ? null : Math.max(most, one)), 0),
  };
  return [...shown, rest];
}

type Fields = { readonly [head in Head]: string };

function toFields({ counts, remainingMs }: Row): Fields {
  const left =
    counts.done >= counts.planned ? 'done' : remainingMs === null ? '-' : formatDuration(remainingMs);
  return {
    done: `${counts.done}/${counts.planned}`,
    pass: String(counts.pass),
    errors: String(counts.errors),
    unscored: String(counts.unscored),
    cost: counts.done === 0 && counts.costUsd === null ? '' : formatUsd(counts.costUsd),
    'in flight': String(counts.inFlight),
    waits: String(counts.waiting),
    left,
  };
}

const columnWidth = (head: Head, rows: readonly Fields[]): number =>
  Math.max(head.length, ...rows.map((row) => row[head].length), head === 'left' ? MIN_LEFT : 0);

function chooseHeads(widths: ReadonlyMap<Head, number>, width: number): readonly Head[] {
  let heads: readonly Head[] = HEADS;
  for (const next of DISPENSABLE) {
    const used = heads.reduce((sum, head) => sum + GAP + (widths.get(head) ?? 0), MIN_NAME);
    if (used < width) break;
    heads = heads.filter((head) => head !== next);
  }
  return heads;
}
