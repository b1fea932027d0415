import { findRun } from '../client/find-run.ts';
import { loadReport } from '../client/report.ts';
import { formatJson } from '../reports/json.ts';
import { formatMarkdown } from '../reports/markdown.ts';
import type { Report } from '../reports/report-schema.ts';
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
};

/** `assay report RUN` */
export async function reportByWord(
  { word, format, output }: ReportQuery,
  context: CommandContext,
): Promise<CommandResult> {
  const report = await withRuns(context, async ({ connection }) => {
    const { runId } = await findRun(connection.db, word);
    return loadReport(connection, runId);
  });
  const { runId } = report.run;
  if (output !== null) {
    await replaceFile(output, `${formatReport(report, format).trimEnd()}\n`);
    return toResult({ document: { runId, format, output }, text: `Wrote ${output}.`, next: [report.next] });
  }
  if (format !== 'table') return toResult({ document: report, text: formatReport(report, format).trimEnd() });
  return toResult({
    document: report,
    text: formatTable(report, toTableForm(context.settings)).trimEnd(),
    next: [report.next],
  });
}

/** The report as a file holds it. */
function formatReport(report: Report, format: ReportFormat): string {
  switch (format) {
    case 'table':
      return formatTable(report, { width: 100, color: false });
    case 'markdown':
      return formatMarkdown(report);
    case 'json':
      return formatJson(report);
  }
}
