import type { ReportRows } from '../domain/report-rows.ts';
import { summarize, type Report, type SummarizeOptions } from '../reports/summarize.ts';
import { loadRun } from '../store/runs.ts';
import { loadReportRows } from '../store/report-rows.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';

/** The report of a run as it stands in the store, live runs included. Throws a ClientError when there is no such run. */
export const loadReport = async (
  connection: AssayConnection,
  runId: string,
  options: SummarizeOptions = {},
): Promise<Report> => summarize(await loadRows(connection, runId), options);

/** What reports of a run are made of. Throws a ClientError when there is no such run. */
export async function loadRows({ db }: AssayConnection, runId: string): Promise<ReportRows> {
  const run = await loadRun(db, runId);
  if (run === null) throw new ClientError(`There is no run "${runId}".`);
  if (run.planDigest === null) {
    const why = run.reason === null ? `it is ${run.state.replaceAll('_', ' ')}` : run.reason;
    throw new ClientError(`Run ${runId} has no report: it was not planned (${why}).`);
  }
  return await loadReportRows(db, runId);
}
