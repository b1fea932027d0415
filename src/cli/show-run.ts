import { findRun } from '../client/find-run.ts';
import { sumProgress } from '../client/progress.ts';
import { describeMissingKeys } from '../domain/key-names.ts';
import { formatChange } from '../domain/limit-change.ts';
import { isTerminal } from '../domain/outcome.ts';
import type { RunPlan } from '../domain/plan.ts';
import { describeMismatch, describeReuse, type Reuse } from '../domain/reuse.ts';
import { loadEngineStates, type EngineState } from '../store/engine-state.ts';
import { listChanges, type RecordedChange } from '../store/limit-changes.ts';
import type { AskedCallRow } from '../store/asked-calls.ts';
import { loadPlan } from '../store/plans.ts';
import { listRequests, type RequestRow } from '../store/requests.ts';
import { loadProgress, type ProgressRow } from '../store/progress.ts';
import { loadReuse } from '../store/reuse.ts';
import type { RunRow } from '../store/runs.ts';
import { listWidths, type WidthRow } from '../store/widths.ts';
import type { CommandContext } from './command.ts';
import { toResult, type CommandResult } from './command-result.ts';
import { countOf, formatDuration, formatMoment, formatState, formatUsd } from './format.ts';
import { formatEngine } from './format-engine.ts';
import { toRunUrl, withRuns } from './open-assay.ts';
import { formatTextTable } from './text-table.ts';
import { formatWidths } from './format-widths.ts';
import { describeAsked, listOpenNext } from './waiting-run.ts';

/** `assay show RUN` */
export async function showRun(word: string, context: CommandContext): Promise<CommandResult> {
  return withRuns(context, async ({ connection, stack }) => {
    const run = await findRun(connection.db, word);
    const plan = run.planDigest === null ? null : await loadPlan(connection.db, run.runId);
    const { rows = [], asked = [] } = (await loadProgress(connection.db, run.runId)) ?? {};
    const temporalUrl = toRunUrl(stack, run.runId);
    const changes = await listChanges(connection.db, { runId: run.runId });
    // What an engine does now says nothing about a run that has ended.
    const engines = isTerminal(run.state) ? [] : await loadEngineStates(connection.db, run.runId);
    const requests = await listRequests(connection.db, run.runId);
    const widths = await listWidths(connection.db, run.runId);
    const reuse = await loadReuse(connection.db, run.runId);
    const facts = { run, plan, requests, rows, asked, engines, temporalUrl, changes, widths, reuse };
    return toResult({ document: toDocument(facts), text: toText(facts), next: toNext(run, plan) });
  });
}

type Facts = {
  readonly run: RunRow;
  readonly plan: RunPlan | null;
  readonly requests: readonly RequestRow[];
  readonly rows: readonly ProgressRow[];
  readonly engines: readonly EngineState[];
  readonly asked: readonly AskedCallRow[];
  readonly temporalUrl: string | null;
  readonly changes: readonly RecordedChange[];
  readonly widths: readonly WidthRow[];
  readonly reuse: Reuse | null;
};

function toDocument({ run, plan, requests, rows, ...facts }: Facts): object {
  const { asked, engines, temporalUrl, changes, widths, reuse } = facts;
  return {
    run,
    temporalUrl,
    requests: (plan?.requests ?? []).map((request) => ({ ...requests[request.index], ...request })),
    skippedModels: plan?.skippedModels ?? [],
    estimate: plan?.estimate ?? null,
    progress: rows,
    engines,
    asked,
    changes,
    widths,
    reuse,
  };
}

function toText({ run, plan, requests, rows, ...others }: Facts): string {
  const { asked, engines, temporalUrl, changes, widths, reuse } = others;
  const totals = sumProgress(rows);
  const facts: readonly (readonly [string, string | null])[] = [
    ['Run', run.runId],
    ['Name', run.name],
    ['State', run.reason === null ? formatState(run.state) : `${formatState(run.state)}: ${run.reason}`],
    ['Waits', run.missingKeys.length === 0 ? null : describeMissingKeys(run.missingKeys, run.runId)],
    ['Created', formatMoment(run.createdAt)],
    ['Took', toDuration(run)],
    ['Generation', run.generation > 1 ? String(run.generation) : null],
    [
      'Cells',
      rows.length === 0 ? null : `${totals.done} of ${totals.planned} recorded, ${totals.pass} passed`,
    ],
    ['Cost', rows.length === 0 ? null : formatUsd(totals.costUsd)],
    ['Reused', reuse === null ? null : describeReuse(reuse)],
    ['Mismatch', reuse === null ? null : describeMismatch(reuse)],
    ['Temporal UI', temporalUrl],
  ];
  const parts = [
    facts.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(12)} ${value}`])).join('\n'),
    plan === null ? '' : plan.requests.map((one) => toRequestLine(one, requests)).join('\n'),
    plan === null
      ? ''
      : plan.skippedModels.map((model) => `Skipped: ${model.modelId}: ${model.reason}`).join('\n'),
    engines.map(formatEngine).join('\n'),
    rows.length === 0 ? '' : toTable(rows),
    describeAsked(run.runId, asked),
    changes.map(toChangeLine).join('\n'),
    widths.length === 0 ? '' : formatWidths(widths),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const toChangeLine = ({ by, note, changedAt, ...change }: RecordedChange): string =>
  `Changed ${formatMoment(changedAt)}: ${formatChange(change)}${by === null ? '' : `, by ${by}`}${note === null ? '' : `: ${note}`}`;

function toDuration({ startedAt, finishedAt }: RunRow): string | null {
  if (startedAt === null) return null;
  const endMs = finishedAt === null ? Date.now() : Date.parse(finishedAt);
  return `${formatDuration(endMs - Date.parse(startedAt))}${finishedAt === null ? ' so far' : ''}`;
}

function toRequestLine(
  { index, spec, suiteName, caseCount, failure }: RunPlan['requests'][number],
  requests: readonly RequestRow[],
): string {
  const { k, strategy } = spec.attempts;
  const attempts = strategy === 'pass' ? `up to ${countOf(k, 'attempt')}` : countOf(k, 'attempt');
  const line = `Request ${spec.name}: ${countOf(caseCount, 'case')} of ${suiteName}, ${attempts} each, harness ${spec.harness.kind}, environment ${spec.environment.kind}`;
  if (failure !== null) return `${line}; failed in preparation: ${failure}`;
  // With one request the run says it.
  const row = requests.length > 1 ? requests[index] : undefined;
  return row === undefined ? line : `${line}; ${describeRequest(row)}`;
}

function describeRequest({ state, preparedAt, finishedAt }: RequestRow): string {
  if (state !== null)
    return `${formatState(state)}${finishedAt === null ? '' : ` ${formatMoment(finishedAt)}`}`;
  return preparedAt === null ? 'waits to be prepared while earlier ones run' : 'open';
}

const toTable = (rows: readonly ProgressRow[]): string =>
  formatTextTable({
    heads: ['request', 'model', 'done', 'pass', 'mean', 'errors', 'unscored', 'not run', 'cost'],
    rows: rows.map((row) => [
      row.requestName,
      row.modelId,
      `${row.done}/${row.planned}`,
      String(row.pass),
      row.meanScore === null ? '-' : row.meanScore.toFixed(3),
      String(row.errors),
      String(row.unscored),
      String(row.notRun + row.skipped),
      formatUsd(row.costUsd),
    ]),
    right: [2, 3, 4, 5, 6, 7, 8],
  });

function toNext({ runId, state, planDigest, reason }: RunRow, plan: RunPlan | null): readonly string[] {
  if (!isTerminal(state)) return listOpenNext({ runId, state });
  if (planDigest === null || plan === null) return ['assay run FILE'];
  const show = `assay show ${runId} CASE`;
  return state === 'completed' && reason === null
    ? [`assay report ${runId}`, show]
    : [`assay report ${runId}`, `assay resume ${runId}${toRaise(state, plan)}`, show];
}

/** A run that its budget stopped stops again at once without a larger one. */
const toRaise = (state: RunRow['state'], { spec }: RunPlan): string =>
  state === 'stopped_budget' && spec.budgets.maxRunUsd !== null ? ' --max-usd N' : '';
