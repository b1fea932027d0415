import { findRun } from '../client/find-run.ts';
import { loadReport } from '../client/report.ts';
import { formatJson } from '../reports/json.ts';
import { formatTable } from '../reports/table.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { withRuns } from './open-assay.ts';
import { toTableForm } from './table-form.ts';
import { replaceFile } from './write-file.ts';

export type ReportQuery = {
  readonly word: string;
  readonly format: 'table' | 'json';
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
    const text = format === 'json' ? formatJson(report) : formatTable(report, { width: 100, color: false });
    await replaceFile(output, `${text.trimEnd()}\n`);
    return toResult({ document: { runId, format, output }, text: `Wrote ${output}.`, next: [report.next] });
  }
  if (format === 'json') return toResult({ document: report, text: formatJson(report).trimEnd() });
  return toResult({
    document: report,
    text: formatTable(report, toTableForm(context.settings)).trimEnd(),
    next: [report.next],
  });
}
