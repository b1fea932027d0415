import picocolors from 'picocolors';
import { formatBoard } from './board-table.ts';
import { toCostText, toCountText, toDurationText, toTokens } from './figure-text.ts';
import { formatNotes, type Style } from './note-list.ts';
import type { Failure, Report } from './report-schema.ts';
import { hang, shortenMiddle, toPrintable } from './terminal-text.ts';

export type TableForm = {
  /** Columns of the terminal; at least 60 are used. */
  readonly width: number;
  readonly color: boolean;
};

const SHOWN_FAILURES = 8;

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

function formatHead({ run, totals, statement }: Report, style: Style): string {
  const { colors, width } = style;
  const tokens = toTokens(totals.usage);
  const elapsed = toElapsed(run);
  const facts = [
    toCostText(totals.costUsd),
    ...(tokens === null ? [] : [`${toCountText(tokens)} tokens`]),
    totals.calls === 1 ? '1 model call' : `${toCountText(totals.calls)} model calls`,
    ...(elapsed === null ? [] : [toDurationText(elapsed)]),
  ];
  const isGood = run.state === 'completed' && run.complete;
  const paint = isGood ? colors.green : run.state === 'failed' ? colors.red : colors.yellow;
  return [
    `${colors.bold(shortenMiddle(toPrintable(run.name), width - 4))}  ${colors.dim(run.runId)}`,
    ...hang('', toPrintable(statement), width).map((line) => paint(line)),
    colors.dim(facts.join(' · ')),
  ].join('\n');
}

function toElapsed(run: Report['run']): number | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  return Math.max(0, Date.parse(run.finishedAt) - Date.parse(run.startedAt));
}

function formatGates({ gateFailures }: Report, { width, colors }: Style): string {
  if (gateFailures.length === 0) return '';
  const lines = gateFailures.flatMap((failure) => hang('  ✗ ', toPrintable(failure.message), width));
  return [colors.bold('Gates not met'), ...lines.map((line) => colors.red(line))].join('\n');
}

function formatFailures({ run, failures, failureCount }: Report, style: Style): string {
  if (failures.length === 0) return '';
  const shown = failures.slice(0, SHOWN_FAILURES);
  const hidden = failureCount - shown.length;
  const more =
    hidden > 0 ? [style.colors.dim(`  … ${hidden} more: assay report ${run.runId} --format json`)] : [];
  const lines = shown.flatMap((failure) => formatFailure(failure, style));
  return [style.colors.bold('Failures'), ...lines, ...more].join('\n');
}

function formatFailure(failure: Failure, { width, colors }: Style): readonly string[] {
  const paint = failure.outcome === 'wrong' ? colors.yellow : colors.red;
  const where = [failure.requestName, failure.modelId].filter((name) => name !== null).join(' / ');
  const count = `${failure.cells} ${failure.cells === 1 ? 'cell' : 'cells'}`;
  const cells = failure.outcome === 'wrong' ? listExamples(failure) : count;
  const head = `${failure.outcome.replaceAll('_', ' ')} · ${toPrintable(where)} · ${cells}`;
  const body = hang('    ', shorten(toPrintable(failure.message)), width);
  const examples = hasExamples(failure) ? hang('    ', listExamples(failure), width) : [];
  return [paint(shortenMiddle(`  ✗ ${head}`, width)), ...body, ...examples.map((line) => colors.dim(line))];
}

/** A skipped model has no cells to look at, and the head of wrong answers names their case. */
const hasExamples = ({ outcome }: Failure): boolean => outcome !== 'skipped' && outcome !== 'wrong';

const MESSAGE_LENGTH = 300;

const shorten = (message: string): string =>
  message.length <= MESSAGE_LENGTH ? message : `${message.slice(0, MESSAGE_LENGTH).toWellFormed()}…`;

function listExamples({ examples, cells }: Failure): string {
  const names = examples.map(
    ({ caseId, attempt }) => `${shortenMiddle(toPrintable(caseId), 40)} a${attempt}`,
  );
  const hidden = cells - names.length;
  return `${names.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
}
