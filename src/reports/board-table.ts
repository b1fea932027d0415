import CliTable3 from 'cli-table3';
import { type Column, COLUMNS } from './board-columns.ts';
import { describeAttempts, describeBoard, describeTags, toRankText, toStandingText } from './report-words.ts';
import type { Board, BoardRow } from './report-schema.ts';
import { formatNotes, type Style } from './note-list.ts';
import { hang, shortenMiddle, toPrintable, toWidth } from './terminal-text.ts';

/** One leaderboard: title, a row of figures for each model with their counts below, and the notes. */
export function formatBoard(board: Board, style: Style): string {
  return [
    formatTitle(board, style),
    formatRows(board, style),
    formatAttempts(board, style),
    formatNotes(board.notes, style),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

function formatTitle(board: Board, { width, colors }: Style): string {
  const name = shortenMiddle(toPrintable(board.requestName), Math.floor(width / 2));
  const rest = shortenMiddle(describeBoard(board), width - toWidth(name) - 2);
  return `${colors.bold(name)}  ${colors.dim(rest)}`;
}

const GAP = 2;
const RANK_WIDTH = 3;

function formatRows(board: Board, style: Style): string {
  const layout = toLayout(board, style.width);
  const table = createTable([
    RANK_WIDTH + 1,
    layout.modelWidth + GAP,
    ...layout.columns.map((column) => column.width + GAP),
  ]);
  table.push(toHead(layout, style));
  for (const row of board.rows) table.push(toTableRow({ row, board, layout, style }));
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

type Layout = {
  readonly modelWidth: number;
  readonly columns: readonly (Column & { readonly width: number })[];
};

/** Room for `disqualified`. */
const LEAST_MODEL_WIDTH = 12;

/** Columns as wide as their content; on a narrow terminal the last ones are left out rather than broken. */
function toLayout(board: Board, width: number): Layout {
  const { rows } = board;
  const shown = rows.filter((row) => row.status !== 'no_data');
  const all = COLUMNS.map((column) => ({
    ...column,
    width: Math.max(...[...column.head, ...shown.flatMap((row) => column.toLines(row, board))].map(toWidth)),
  }));
  const toRoom = (columns: Layout['columns']): number =>
    width - RANK_WIDTH - GAP - columns.reduce((sum, column) => sum + column.width + GAP, 0);
  const counts = all.map((_, index) => all.length - index);
  const columns = counts
    .map((count) => all.slice(0, count))
    .find((some) => some.length === 1 || toRoom(some) >= LEAST_MODEL_WIDTH);
  const longest = Math.max(
    ...rows.map((row) => toWidth(toPrintable(row.modelId))),
    ...rows.map((row) => toWidth(toStandingText(row) ?? 'model')),
  );
  const room = Math.max(LEAST_MODEL_WIDTH, toRoom(columns ?? all));
  return { modelWidth: Math.min(longest, room), columns: columns ?? all };
}

function createTable(colWidths: number[]): CliTable3.Table {
  const none = '';
  return new CliTable3({
    colWidths,
    chars: {
      top: none,
      'top-mid': none,
      'top-left': none,
      'top-right': none,
      bottom: none,
      'bottom-mid': none,
      'bottom-left': none,
      'bottom-right': none,
      left: none,
      'left-mid': none,
      mid: none,
      'mid-mid': none,
      right: none,
      'right-mid': none,
      middle: none,
    },
    style: { 'padding-left': 0, 'padding-right': 0, head: [], border: [] },
  });
}

const toHead = ({ columns }: Layout, { colors }: Style): string[] => [
  '',
  colors.dim('model'),
  ...columns.map((column) => column.head.map((line) => colors.dim(line)).join('\n')),
];

type RowParts = {
  readonly row: BoardRow;
  readonly board: Board;
  readonly layout: Layout;
  readonly style: Style;
};

function toTableRow({ row, board, layout, style }: RowParts): CliTable3.HorizontalTableRow {
  const { colors } = style;
  const { columns, modelWidth } = layout;
  const model = shortenMiddle(toPrintable(row.modelId), modelWidth);
  if (row.status === 'no_data') {
    const width = columns.reduce((sum, column) => sum + column.width + GAP, -GAP);
    const reason = hang('', `no data: ${toPrintable(row.noDataReason ?? '')}`, width);
    const content = reason.map((line) => colors.yellow(line)).join('\n');
    return ['–', model, { content, colSpan: columns.length }];
  }
  const figures = columns.map((column) => {
    const [first = '', ...others] = column.toLines(row, board);
    return [first, ...others.map((line) => colors.dim(line))].join('\n');
  });
  const name = row.rank === 1 ? colors.bold(colors.cyan(model)) : colors.bold(model);
  const standing = toStandingText(row);
  const names = standing === null ? name : `${name}\n${colors.yellow(standing)}`;
  return [toRankText(row, board), names, ...figures];
}

function formatAttempts(board: Board, { width, colors }: Style): string {
  const text = describeAttempts(board);
  return [...(text === null ? [] : [text]), ...describeTags(board)]
    .flatMap((line) => hang('  • ', line, width))
    .map((line) => colors.dim(line))
    .join('\n');
}
