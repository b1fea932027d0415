import { redactPatterns } from '../domain/redact.ts';
import type { ReportCell, ReportRows } from '../domain/report-rows.ts';
import { describeCell } from './failures.ts';

type Value = string | number | boolean | null;

/** Columns of the file: a line for each cell, then one column for the value of each scorer. */
const COLUMNS: readonly (readonly [string, (cell: ReportCell) => Value])[] = [
  ['request', (cell) => cell.requestName],
  ['model', (cell) => cell.modelId],
  ['case', (cell) => cell.caseId],
  ['attempt', (cell) => cell.attempt],
  ['generation', (cell) => cell.generation],
  ['outcome', (cell) => cell.outcome?.kind ?? 'unrecorded'],
  ['score', (cell) => (cell.outcome?.kind === 'scored' ? cell.outcome.score : null)],
  ['pass', (cell) => (cell.outcome?.kind === 'scored' ? cell.outcome.pass : null)],
  ['reason', (cell) => describeCell(cell)?.code ?? null],
  ['message', (cell) => redact(describeCell(cell)?.message ?? null)],
  ['limit', (cell) => cell.outcome?.limit?.kind ?? null],
  ['costUsd', (cell) => (cell.priced ? (cell.costUsd ?? 0) : null)],
  ['inputTokens', (cell) => cell.usage.inputTokens],
  ['outputTokens', (cell) => cell.usage.outputTokens],
  ['latencyMs', (cell) => cell.latencyMs],
  ['waitMs', (cell) => cell.waitMs],
  ['calls', (cell) => cell.calls],
  ['retriedCalls', (cell) => cell.retriedCalls],
  ['weight', (cell) => cell.weight],
  ['cluster', (cell) => cell.cluster],
  ['tags', (cell) => cell.tags.join(' ')],
  ['reusedFrom', (cell) => cell.origin?.runId ?? null],
  ['mismatch', (cell) => cell.origin?.mismatch ?? null],
  ['answer', (cell) => redact(cell.answerPreview)],
];

const redact = (text: string | null): string | null => (text === null ? null : redactPatterns(text));

/**
 * Every cell of a run as a table (RFC 4180, UTF-8, CRLF). What is not known is empty, never 0. Text that a spreadsheet
 * would run as a formula gets an apostrophe before it; numbers stay numbers.
 */
export function formatCsv({ cells }: ReportRows): string {
  const scorers = [...new Set(cells.flatMap((cell) => cell.scores.map(({ scorer }) => scorer)))];
  const head = [...COLUMNS.map(([name]) => name), ...scorers.map((scorer) => `score:${scorer}`)];
  const lines = cells.map((cell) => [
    ...COLUMNS.map(([, read]) => read(cell)),
    ...scorers.map((scorer) => toScorerValue(cell, scorer)),
  ]);
  return [head, ...lines].map((line) => `${line.map(toField).join(',')}\r\n`).join('');
}

function toScorerValue({ scores }: ReportCell, name: string): number | null {
  const verdict = scores.find(({ scorer }) => scorer === name)?.verdict;
  return verdict?.kind === 'scored' ? verdict.value : null;
}

/** What spreadsheets take for the start of a formula (OWASP, CSV injection). */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^[+-]?\d+(\.\d+)?$/;

function toField(value: Value): string {
  if (value === null) return '';
  const text = String(value).toWellFormed();
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
