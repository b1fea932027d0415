import picocolors from 'picocolors';
import { formatBoard } from './board-table.ts';
import { formatNotes, type Style } from './note-list.ts';
import { describeFailure, listRunFacts, SHOWN_FAILURES, toFullForm } from './report-words.ts';
import type { Failure, Report } from './report-schema.ts';
import { hang, shortenMiddle, toPrintable } from './terminal-text.ts';

export type TableForm = {
  /** Columns of the terminal; at least 60 are used. */
  readonly width: number;
  readonly color: boolean;
};

/**
 * The leaderboard as text for a terminal of the given width: what the run is and what its state means, a board for
 * each request, notes, failures. It does not print `report.next`.
 */
export function formatTable(report: Report, { width, color }: TableForm): string {
  const style = { width: Math.max(60, width), colors: picocolors.createColors(color) };
  const blocks = [
    formatHead(report, style),
    ...report.boards.map((board) => formatBoard(board, style)),
    formatNotes(
      report.notes.filter((note) => note.code !== 'skipped'),
      style,
    ),
    formatGates(report, style),
    formatFailures(report, style),
  ];
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function formatHead(report: Report, style: Style): string {
  const { run, statement } = report;
  const { colors, width } = style;
  const isGood = run.state === 'completed' && run.complete;
  const paint = isGood ? colors.green : run.state === 'failed' ? colors.red : colors.yellow;
  return [
    `${colors.bold(shortenMiddle(toPrintable(run.name), width - 4))}  ${colors.dim(run.runId)}`,
    ...hang('', toPrintable(statement), width).map((line) => paint(line)),
    colors.dim(listRunFacts(report).join(' · ')),
  ].join('\n');
}

function formatGates({ gateFailures }: Report, { width, colors }: Style): string {
  if (gateFailures.length === 0) return '';
  const lines = gateFailures.flatMap((failure) => hang('  ✗ ', toPrintable(failure.message), width));
  return [colors.bold('Gates not met'), ...lines.map((line) => colors.red(line))].join('\n');
}

function formatFailures(report: Report, style: Style): string {
  const { run, failures, failureCount } = report;
  if (failures.length === 0) return '';
  const shown = failures.slice(0, SHOWN_FAILURES);
  const hidden = failureCount - shown.length;
  const more =
    hidden > 0
      ? [style.colors.dim(`  … ${hidden} more: assay report ${run.runId} --format ${toFullForm(report)}`)]
      : [];
  const lines = shown.flatMap((failure) => formatFailure(failure, style));
  return [style.colors.bold('Failures'), ...lines, ...more].join('\n');
}

function formatFailure(failure: Failure, { width, colors }: Style): readonly string[] {
  const paint = failure.outcome === 'wrong' ? colors.yellow : colors.red;
  const { outcome, where, cells, message, examples } = describeFailure(failure);
  const body = hang('    ', message, width);
  const lines = examples === null ? [] : hang('    ', examples, width);
  return [
    paint(shortenMiddle(`  ✗ ${outcome} · ${where} · ${cells}`, width)),
    ...body,
    ...lines.map((line) => colors.dim(line)),
  ];
}
