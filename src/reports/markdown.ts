import { COLUMNS } from './board-columns.ts';
import { toCode, toMarkdownText } from './markdown-text.ts';
import {
  describeAttempts,
  describeBoard,
  describeFailure,
  describeTags,
  listRunFacts,
  SHOWN_FAILURES,
  toFullForm,
  toRankText,
  toStandingText,
} from './report-words.ts';
import type { Board, BoardRow, Failure, Note, Report } from './report-schema.ts';

/**
 * The leaderboard as GitHub-flavoured Markdown with the content of the terminal's table: what the run is and what its
 * state means, a board for each request, notes, gates, failures. Texts of others are escaped, so that none becomes
 * markup, a link or a row.
 */
export function formatMarkdown(report: Report): string {
  const blocks = [
    ...formatHead(report),
    ...report.boards.flatMap(formatBoard),
    formatNotes(report.notes.filter((note) => note.code !== 'skipped')),
    ...formatGates(report),
    ...formatFailures(report),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

const formatHead = (report: Report): readonly string[] => [
  `# ${toMarkdownText(report.run.name)}`,
  `Run ${toCode(report.run.runId)}. ${toMarkdownText(report.statement)}`,
  listRunFacts(report).join(' · '),
];

const formatBoard = (board: Board): readonly string[] => [
  `## ${toMarkdownText(board.requestName)}`,
  toMarkdownText(describeBoard(board)),
  formatRows(board),
  formatNotes(board.notes, [describeAttempts(board) ?? [], describeTags(board)].flat()),
];

function formatRows(board: Board): string {
  const heads = ['', 'model', ...COLUMNS.map(({ head }) => head.join('<br>'))];
  const lines = ['---:', '---', ...COLUMNS.map(() => '---:')];
  return [heads, lines, ...board.rows.map((row) => toCells(row, board))].map(toTableLine).join('\n');
}

function toCells(row: BoardRow, board: Board): readonly string[] {
  const standing = toStandingText(row);
  const model = toMarkdownText(row.modelId);
  if (row.status === 'no_data') {
    return [
      '–',
      model,
      `no data: ${toMarkdownText(row.noDataReason ?? '')}`,
      ...COLUMNS.slice(1).map(() => ''),
    ];
  }
  const figures = COLUMNS.map((column) =>
    column
      .toLines(row, board)
      .filter((line) => line !== '')
      // Figures are this program's own: only `<1%` could be taken for markup.
      .map((line) => line.replaceAll('<', '&lt;').replaceAll(/\s+/g, ' '))
      .join('<br>'),
  );
  return [
    toRankText(row, board),
    `${row.rank === 1 ? `**${model}**` : model}${standing === null ? '' : `<br>${standing}`}`,
    ...figures,
  ];
}

const toTableLine = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const formatNotes = (notes: readonly Note[], first: readonly string[] = []): string =>
  [...first, ...notes.map((note) => note.text)].map((text) => `- ${toMarkdownText(text)}`).join('\n');

function formatGates({ gateFailures }: Report): readonly string[] {
  if (gateFailures.length === 0) return [];
  return ['## Gates not met', gateFailures.map(({ message }) => `- ${toMarkdownText(message)}`).join('\n')];
}

function formatFailures(report: Report): readonly string[] {
  const { failures, failureCount, run } = report;
  if (failures.length === 0) return [];
  const shown = failures.slice(0, SHOWN_FAILURES);
  const hidden = failureCount - shown.length;
  const more =
    hidden > 0
      ? [`- … ${hidden} more: ${toCode(`assay report ${run.runId} --format ${toFullForm(report)}`)}`]
      : [];
  return ['## Failures', [...shown.map(formatFailure), ...more].join('\n')];
}

/** The message stands as code: nothing in it is read as markup, nobody who is named in it is notified. */
function formatFailure(failure: Failure): string {
  const { outcome, where, cells, message, examples } = describeFailure(failure);
  const head = `- **${outcome}** · ${toMarkdownText(where)} · ${toMarkdownText(cells)}`;
  const body = [message, ...(examples === null ? [] : [examples])].filter((text) => text !== '').map(toCode);
  return [head, ...body].join('<br>');
}
