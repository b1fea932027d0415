import { loadReport } from '../client/report.ts';
import { ClientError } from '../client/client-error.ts';
import type { RunState } from '../domain/outcome.ts';
import type { Report } from '../reports/report-schema.ts';
import { formatTable } from '../reports/table.ts';
import { loadRun, type RunRow } from '../store/runs.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { decideExit, type ExitDecision } from './exit-code.ts';
import { formatState } from './format.ts';
import { toRunUrl, type OpenAssay } from './open-assay.ts';
import { quoteWord } from './quote-word.ts';
import { toTableForm } from './table-form.ts';
import { describeWait, listOpenNext } from './waiting-run.ts';

/** The leaderboard of a run that has ended, or what one waits for that was left waiting; with the exit code. */
export async function concludeRun(
  { connection, stack }: OpenAssay,
  runId: string,
  context: CommandContext,
): Promise<CommandResult> {
  const run = await loadRun(connection.db, runId);
  if (run === null) throw new ClientError(`Run ${runId} is not in this database any more.`);
  if (run.state === 'awaiting_approval') return toWaiting(run, toRunUrl(stack, runId));
  const report = run.planDigest === null ? null : await loadReport(connection, runId);
  const decision = decideExit(toRunEnd(run.state, report));
  const temporalUrl = toRunUrl(stack, runId);
  const { state, reason } = run;
  return toResult({
    document: {
      runId,
      state,
      reason,
      exitCode: decision.code,
      exitReasons: decision.reasons,
      temporalUrl,
      report,
    },
    text: [
      report === null ? toBareEnd(run) : formatTable(report, toTableForm(context.settings)).trimEnd(),
      toExitText(decision),
      temporalUrl === null ? '' : `Temporal UI: ${temporalUrl}`,
    ]
      .filter((part) => part !== '')
      .join('\n\n'),
    next: report === null ? ['assay run FILE'] : toNext(runId, report),
    exitCode: decision.code,
  });
}

/** An unfinished end: the run itself goes on once somebody approves. */
function toWaiting(run: RunRow, temporalUrl: string | null): CommandResult {
  const { runId, state, reason } = run;
  const { code, reasons } = decideExit(toRunEnd(state, null));
  return toResult({
    document: { runId, state, reason, exitCode: code, exitReasons: reasons, temporalUrl, report: null },
    text: `Run ${runId}: nothing has been sent. ${describeWait(run) ?? ''}`,
    next: listOpenNext(run),
    exitCode: code,
  });
}

/** What the exit code looks at. */
export function toRunEnd(state: RunState, report: Report | null): Parameters<typeof decideExit>[0] {
  if (report === null) return { state, gateFailures: [], planned: 0, scored: 0, unfinished: 0 };
  const outcomes = report.boards.flatMap((board) => board.rows.map((row) => row.figures.outcomes));
  const unfinished = outcomes.reduce((sum, one) => sum + one.not_run + one.interrupted + one.unrecorded, 0);
  return {
    state,
    gateFailures: report.gateFailures,
    planned: report.run.planned,
    scored: report.run.scored,
    unfinished,
  };
}

const toBareEnd = ({ runId, state, reason }: RunRow): string =>
  `Run ${runId}: ${formatState(state)}${reason === null ? '' : `\n${reason}`}`;

const toExitText = ({ code, reasons }: ExitDecision): string =>
  code === 0 ? '' : `Exit code ${code}: ${reasons.join('; ')}`;

function toNext(runId: string, report: Report): readonly string[] {
  const failure = report.failures.find((one) => one.examples.length > 0);
  const example = failure?.examples[0];
  const show =
    failure === undefined || example === undefined
      ? []
      : [
          `assay show ${runId} ${quoteWord(example.caseId)} --model ${quoteWord(failure.modelId)} --attempt ${example.attempt}`,
        ];
  // The report names the case, the command the very attempt; and a report is named below in any case.
  const repeated =
    report.next.startsWith('assay report ') || (show.length > 0 && report.next.startsWith('assay show '));
  const first = repeated ? [] : [report.next];
  return [...new Set([...first, ...show, `assay report ${runId} --format json --output report.json`])];
}
