import { readFile } from 'node:fs/promises';
import { findBaseline } from '../client/find-baseline.ts';
import { findRun } from '../client/find-run.ts';
import { loadRows } from '../client/report.ts';
import type { ReportRows } from '../domain/report-rows.ts';
import type { Gates } from '../domain/run.ts';
import { compare } from '../reports/compare.ts';
import { formatComparison } from '../reports/comparison-table.ts';
import { formatGateSummary } from '../reports/gate-summary.ts';
import { pairRuns } from '../reports/pair-sides.ts';
import { findRegressions } from '../reports/regressions.ts';
import { summarize } from '../reports/summarize.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { toRunEnd } from './conclude-run.ts';
import { decideExit } from './exit-code.ts';
import { withRuns } from './open-assay.ts';
import { toTableForm } from './table-form.ts';
import { UsageError } from './usage-error.ts';
import { replaceFile } from './write-file.ts';

export type GateOptions = {
  readonly minCoverage?: number;
  readonly minPassRate?: number;
  readonly minMean?: number;
  readonly maxUnscoredRate?: number;
  readonly requireModels?: boolean;
  readonly baseline?: string;
  readonly tolerance: number;
  readonly confidence: number;
  readonly summary?: string;
};

/** `assay gate RUN` */
export async function gateByWord(
  word: string,
  options: GateOptions,
  context: CommandContext,
): Promise<CommandResult> {
  if (options.confidence <= 0.5 || options.confidence >= 1)
    throw new UsageError(`--confidence: expected more than 0.5 and less than 1, got ${options.confidence}.`);
  const { rows, baseline } = await load(word, options, context);
  const gates = mergeGates(rows.run.gates, options);
  const report = summarize({ ...rows, run: { ...rows.run, gates } });
  const paired = baseline === null ? null : pairRuns(baseline, rows, []);
  const comparison = paired === null ? null : compare(paired);
  const gateFailures = [...report.gateFailures, ...(paired === null ? [] : findRegressions(paired, options))];
  const decision = decideExit({ ...toRunEnd(rows.run.state, report), gateFailures });
  const verdict = { passed: decision.code === 0, reasons: decision.reasons };
  if (options.summary !== undefined)
    await addToFile(options.summary, formatGateSummary(verdict, { report, comparison }));
  const { runId } = rows.run;
  const missing =
    options.baseline === 'last' && baseline === null
      ? 'No earlier run of this name has completed: nothing to compare.'
      : '';
  return toResult({
    document: {
      runId,
      baseline: baseline?.run.runId ?? null,
      exitCode: decision.code,
      reasons: decision.reasons,
      gates,
      gateFailures,
      comparison,
    },
    text: [
      `Run ${runId}: ${verdict.passed ? 'gate passed' : 'gate failed'}`,
      ...decision.reasons.map((reason) => `  ✗ ${reason}`),
      ...(missing === '' ? [] : [`  ${missing}`]),
      ...(comparison === null
        ? []
        : ['', formatComparison(comparison, toTableForm(context.settings)).trimEnd()]),
    ].join('\n'),
    next: [`assay report ${runId}`],
    exitCode: decision.code,
  });
}

const load = (
  word: string,
  { baseline: wanted }: GateOptions,
  context: CommandContext,
): Promise<{ readonly rows: ReportRows; readonly baseline: ReportRows | null }> =>
  withRuns(context, async ({ connection }) => {
    const run = await findRun(connection.db, word);
    const rows = await loadRows(connection, run.runId);
    const found = wanted === undefined ? null : await findBaseline(connection.db, run, wanted);
    return { rows, baseline: found === null ? null : await loadRows(connection, found.runId) };
  });

/** A gate that is asked for without a word on coverage would pass figures over almost nothing. */
const DEFAULT_COVERAGE = 0.95;

const mergeGates = (declared: Gates, options: GateOptions): Gates => ({
  minCoverage: options.minCoverage ?? declared.minCoverage ?? DEFAULT_COVERAGE,
  minPassRate: options.minPassRate ?? declared.minPassRate,
  minMean: options.minMean ?? declared.minMean,
  maxUnscoredRate: options.maxUnscoredRate ?? declared.maxUnscoredRate,
  requireModels: options.requireModels ?? declared.requireModels,
});

/** What the file holds stays: several steps write one summary. */
async function addToFile(path: string, text: string): Promise<void> {
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  await replaceFile(path, before === '' ? text : `${before.trimEnd()}\n\n${text}`);
}
