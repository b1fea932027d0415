import type { Colors } from 'picocolors/types.js';
import stringWidth from 'string-width';
import type { RunProgress } from '../../client/progress.ts';
import { sumProgress } from '../../client/progress.ts';
import type { ProgressRow } from '../../store/progress.ts';
import { formatDuration, formatState, formatUsd } from '../format.ts';
import { describeWait } from '../waiting-run.ts';
import { fitEnd, fitMiddle, padEnd, padStart } from './text-width.ts';

export type ProgressView = {
  readonly progress: RunProgress;
  readonly elapsedMs: number;
  /** Null = no pace to go by yet. */
  readonly remainingMs: number | null;
  /** By position of the line, as `remainingMs`. */
  readonly lineRemainingMs: readonly (number | null)[];
  /** One sentence of what is going on beside the run, such as a stop that waits for cleanup; or null. */
  readonly notice: string | null;
};

export type Screen = { readonly width: number; readonly height: number; readonly colors: Colors };

const HEADS = ['done', 'pass', 'errors', 'unscored', 'cost', 'in flight', 'waits', 'left'] as const;
type Head = (typeof HEADS)[number];
/** Columns that a narrow terminal does without, first to go first. */
const DISPENSABLE: readonly Head[] = ['waits', 'unscored', 'in flight', 'left', 'cost', 'errors'];
const NAME_HEAD = 'request / model';
const MIN_NAME = 24;
const GAP = 2;
/** `1h 20m`: so that the table does not shift as the time goes by. */
const MIN_LEFT = 7;

/**
 * The live display of a run: always as many lines as there are requests and models, or as the screen holds,
 * and never wider than the screen.
 */
export function formatProgressTable(view: ProgressView, screen: Screen): string {
  const { progress } = view;
  const shown = chooseRows(view, Math.max(2, screen.height - 4));
  const lines = [formatHeadline(view, screen)];
  if (shown.length > 0) lines.push(...formatRows(shown, screen));
  if (shown.length < progress.rows.length) {
    lines.push(screen.colors.dim(`  and ${progress.rows.length - shown.length} more`));
  }
  lines.push(
    screen.colors.dim(
      fitEnd(
        toOneLine(view.notice ?? describeWait(progress) ?? progress.reason ?? 'Ctrl-C cancels'),
        screen.width - 1,
      ),
    ),
  );
  return lines.join('\n');
}

const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

type Row = { readonly line: ProgressRow; readonly remainingMs: number | null };

/** All rows when they fit, else those with work left first, in their order. */
function chooseRows({ progress, lineRemainingMs }: ProgressView, room: number): readonly Row[] {
  const rows = progress.rows.map((line, index) => ({ line, remainingMs: lineRemainingMs[index] ?? null }));
  if (rows.length <= room) return rows;
  const isDone = ({ line }: Row): boolean => line.done >= line.planned;
  return [...rows.filter((row) => !isDone(row)), ...rows.filter(isDone)].slice(0, room - 1);
}

function formatHeadline(
  { progress, elapsedMs, remainingMs }: ProgressView,
  { width, colors }: Screen,
): string {
  const totals = sumProgress(progress.rows);
  const facts = [formatState(progress.state)];
  if (totals.planned > 0) {
    facts.push(`${totals.done}/${totals.planned}`, `${Math.floor((100 * totals.done) / totals.planned)} %`);
  }
  if (totals.done > 0) facts.push(formatUsd(totals.costUsd));
  facts.push(formatDuration(elapsedMs));
  if (remainingMs !== null && remainingMs > 0) facts.push(`about ${formatDuration(remainingMs)} left`);
  const text = fitEnd(facts.join(' · '), Math.max(10, width - 12));
  const name = fitMiddle(progress.runId, Math.max(8, width - 4 - text.length));
  return `${colors.bold(name)}  ${text}`;
}

function formatRows(rows: readonly Row[], { width, colors }: Screen): readonly string[] {
  const fields = rows.map(toFields);
  const widths = new Map(HEADS.map((head) => [head, columnWidth(head, fields)]));
  const heads = chooseHeads(widths, width);
  const taken = heads.reduce((sum, head) => sum + GAP + (widths.get(head) ?? 0), 0);
  const names = rows.map(({ line }) => fitMiddle(`${line.requestName} / ${line.modelId}`, width - 1 - taken));
  const first = Math.max(...[NAME_HEAD, ...names].map((name) => stringWidth(name)));
  const toLine = (name: string, cell: (head: Head) => string): string =>
    [padEnd(name, first), ...heads.map((head) => padStart(cell(head), widths.get(head) ?? 0))].join('  ');
  const paint = (row: Row, text: string): string => (row.line.errors > 0 ? colors.yellow(text) : text);
  return [
    colors.dim(toLine(NAME_HEAD, (head) => head)),
    ...rows.map((row, index) =>
      paint(
        row,
        toLine(names[index] ?? '', (head) => fields[index]?.[head] ?? ''),
      ),
    ),
  ];
}

type Fields = { readonly [head in Head]: string };

function toFields({ line, remainingMs }: Row): Fields {
  const left = line.done >= line.planned ? 'done' : remainingMs === null ? '' : formatDuration(remainingMs);
  return {
    done: `${line.done}/${line.planned}`,
    pass: String(line.pass),
    errors: String(line.errors),
    unscored: String(line.unscored),
    cost: line.done === 0 && line.costUsd === null ? '' : formatUsd(line.costUsd),
    'in flight': String(line.inFlight),
    waits: String(line.waiting),
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
