import type { ReportRows } from '../domain/report-rows.ts';
import { COLUMNS } from './board-columns.ts';
import { drawCosts, drawCurves, drawLatencies, drawMeans } from './html-charts.ts';
import { type FailureDetail, listHtmlFailures } from './html-failures.ts';
import { drawMatrix } from './html-matrix.ts';
import { STYLE } from './html-style.ts';
import { type Markup, markup, trusted } from './markup.ts';
import {
  describeAttempts,
  describeBoard,
  describeTags,
  listRunFacts,
  toRankText,
  toStandingText,
} from './report-words.ts';
import type { Board, BoardRow, Note, Report } from './report-schema.ts';

export type HtmlParts = {
  readonly report: Report;
  readonly rows: ReportRows;
  /** Of some failures; the others show the start of the answer. */
  readonly details: readonly FailureDetail[];
};

/**
 * A run as one page that needs nothing beside itself: no script, no network. Failures first, then each leaderboard with
 * intervals, cost against quality, latency and the matrix of cases and models.
 */
export function formatHtml({ report, rows, details }: HtmlParts): string {
  const { run, failures, failureCount } = report;
  const boards = report.boards.map((board, index) => drawBoard(board, { id: `board-${index + 1}`, rows }));
  const page = markup`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${run.name}: ${run.runId}</title><style>${trusted(STYLE)}</style></head><body>
<header><h1>${run.name}</h1><p class="soft"><code>${run.runId}</code></p><p>${report.statement}</p><p class="soft">${listRunFacts(report).join(' · ')}</p>
<nav aria-label="Parts of this page">${failures.length > 0 ? markup`<a href="#failures">Failures (${failureCount})</a>` : null}${report.boards.map((board, index) => markup`<a href="#board-${index + 1}">${board.requestName}</a>`)}</nav></header>
<main>${drawGates(report)}${drawNotes(report.notes.filter(({ code }) => code !== 'skipped'))}
${failures.length === 0 ? null : markup`<section id="failures"><h2>Failures</h2>${listHtmlFailures(failures, { count: failureCount, details })}</section>`}
${boards}</main></body></html>
`;
  return page.html;
}

const drawGates = ({ gateFailures }: Report): Markup | null =>
  gateFailures.length === 0
    ? null
    : markup`<section><h2>Gates not met</h2><ul>${gateFailures.map(({ message }) => markup`<li class="fail">${message}</li>`)}</ul></section>`;

const drawNotes = (notes: readonly Pick<Note, 'text'>[]): Markup | null =>
  notes.length === 0
    ? null
    : markup`<ul class="soft">${notes.map(({ text }) => markup`<li>${text}</li>`)}</ul>`;

function drawBoard(board: Board, { id, rows }: { readonly id: string; readonly rows: ReportRows }): Markup {
  const cells = rows.cells.filter((cell) => cell.requestName === board.requestName);
  const heads = COLUMNS.map(
    ({ head: [first, second] }) => markup`<th scope="col">${first}<small>${second}</small></th>`,
  );
  const attempts = describeAttempts(board);
  const lines = [...(attempts === null ? [] : [attempts]), ...describeTags(board)].map((text) => ({ text }));
  return markup`<section id="${id}"><h2>${board.requestName}</h2><p class="soft">${describeBoard(board)}</p>
<div class="scroll" tabindex="0" role="region" aria-label="Leaderboard of ${board.requestName}"><table><thead><tr><th scope="col">rank</th><th scope="col" class="text">model</th>${heads}</tr></thead>
<tbody>${board.rows.map((row) => drawRow(row, board))}</tbody></table></div>
${drawNotes([...lines, ...board.notes])}${drawMeans(board)}${drawCosts(board)}${drawCurves(board)}${drawLatencies(board)}
<h3>Cases by models</h3>${drawMatrix(
    cells,
    board.rows.map(({ modelId }) => modelId),
  )}</section>`;
}

function drawRow(row: BoardRow, board: Board): Markup {
  const standing = toStandingText(row);
  const head = markup`<td>${toRankText(row, board)}</td><th scope="row">${row.modelId}${standing === null ? null : markup`<small>${standing}</small>`}</th>`;
  if (row.status === 'no_data')
    return markup`<tr>${head}<td class="text" colspan="${COLUMNS.length}">no data: ${row.noDataReason ?? ''}</td></tr>`;
  const figures = COLUMNS.map((column) => {
    const [first = '', ...others] = column.toLines(row, board);
    return markup`<td>${first}${others.map((line) => markup`<small>${line}</small>`)}</td>`;
  });
  return markup`<tr>${head}${figures}</tr>`;
}
