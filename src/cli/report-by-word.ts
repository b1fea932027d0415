import { findRun } from '../client/find-run.ts';
import { loadFailureDetails } from '../client/failure-details.ts';
import { loadRows } from '../client/report.ts';
import type { RankingRule } from '../domain/ranking-rule.ts';
import type { HtmlParts } from '../reports/html.ts';
import { formatCsv } from '../reports/csv.ts';
import { formatJson } from '../reports/json.ts';
import { formatJunit } from '../reports/junit.ts';
import { formatMarkdown } from '../reports/markdown.ts';
import { summarize } from '../reports/summarize.ts';
import { formatTable } from '../reports/table.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { withRuns } from './open-assay.ts';
import type { ReportFormat } from './report-format.ts';
import { toTableForm } from './table-form.ts';
import { replaceFile } from './write-file.ts';

export type ReportQuery = {
  readonly word: string;
  readonly format: ReportFormat;
  /** Null = standard output. */
  readonly output: string | null;
  /** What if the ranking weighed this. */
  readonly weights?: RankingRule['weights'];
};

/** `assay report RUN` */
export async function reportByWord(
  { word, format, output, weights }: ReportQuery,
  context: CommandContext,
): Promise<CommandResult> {
  const parts = await withRuns(context, async ({ connection }) => {
    const { runId: found } = await findRun(connection.db, word);
    const rows = await loadRows(connection, found);
    const summary = summarize(rows, weights === undefined ? {} : { weights });
    const details = format === 'html' ? await loadFailureDetails(connection.db, summary) : [];
    return { report: summary, rows, details };
  });
  const { report } = parts;
  const { runId } = report.run;
  if (output !== null) {
    await replaceFile(output, await formatReport(parts, format));
    return toResult({ document: { runId, format, output }, text: `Wrote ${output}.`, next: [report.next] });
  }
  if (format !== 'table')
    return toResult({ document: report, text: withoutLastBreak(await formatReport(parts, format)) });
  return toResult({
    document: report,
    text: formatTable(report, toTableForm(context.settings)).trimEnd(),
    next: [report.next],
  });
}

const withoutLastBreak = (text: string): string => text.replace(/\r?\n$/, '');

/** The report as a file holds it. */
export async function formatReport(
  { report, rows, details }: HtmlParts,
  format: ReportFormat,
): Promise<string> {
  switch (format) {
    case 'table':
      return formatTable(report, { width: 100, color: false });
    case 'markdown':
      return formatMarkdown(report);
    case 'json':
      return formatJson(report);
    case 'html': {
      // Charts take longer to load than all else.
      const { formatHtml } = await import('../reports/html.ts');
      return formatHtml({ report, rows, details });
    }
    case 'csv':
      return formatCsv(rows);
    case 'junit':
      return formatJunit(rows, report);
  }
}
