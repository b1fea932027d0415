import type { ReportRows } from '../domain/report-rows.ts';
import { RESUMABLE } from './failures.ts';
import type { Failure } from './report-schema.ts';

export type Progress = { readonly planned: number; readonly recorded: number; readonly scored: number };

/** What the state of the run means, in one or two sentences with counts. */
export function toStatement({ run }: ReportRows, progress: Progress): string {
  const because = run.reason === null ? '' : ` (${run.reason.replace(/\.$/, '')})`;
  const counts = `${progress.recorded} of ${progress.planned} cells recorded, ${progress.scored} scored`;
  switch (run.state) {
    case 'completed':
      return run.reason === null
        ? `Completed: ${counts}.`
        : `Completed without all of its cells${because}: ${counts}.`;
    case 'stopped_budget':
      return `Stopped by its budget${because}: ${counts}. Resume it with a larger budget to run the rest.`;
    case 'cancelled':
      return `Cancelled${because}: ${counts}. Resume it to run the rest.`;
    case 'timed_out':
      return `Stopped at its deadline${because}: ${counts}. Resume it to run the rest.`;
    case 'aborted':
      return `Aborted by failFast${because}: ${counts}.`;
    case 'failed':
      return `Failed${because}: ${counts}.`;
    case 'preparing':
      return 'Preparing: nothing has been sent yet.';
    case 'awaiting_approval':
      return `Awaiting approval${because}: nothing has been sent yet.`;
    case 'paused':
      return `Paused${because}: ${counts} so far. What runs goes on; unpause it to start the rest.`;
    case 'running':
    case 'finalizing':
      return `Not finished (${run.state}): ${counts} so far. Every figure below may still change.`;
  }
}

/** The next command to type. */
export function toNextCommand({ run, cells }: ReportRows, failures: readonly Failure[]): string {
  const { runId, state } = run;
  switch (state) {
    case 'preparing':
    case 'running':
    case 'finalizing':
      return `assay watch ${runId}`;
    case 'paused':
      return `assay unpause ${runId}`;
    case 'awaiting_approval':
      return `assay approve ${runId}`;
    case 'stopped_budget':
      return `assay resume ${runId}${toLargerBudget(run.caps.maxRunUsd, cells)}`;
    case 'completed':
    case 'cancelled':
    case 'timed_out':
    case 'aborted':
    case 'failed':
      return toFollowUp(runId, failures);
  }
}

/** Twice the cap, or twice what was spent when that is more already. */
function toLargerBudget(maxRunUsd: number | null, cells: ReportRows['cells']): string {
  if (maxRunUsd === null || maxRunUsd === 0) return '';
  const spentUsd = cells.reduce((sum, one) => sum + (one.costUsd ?? 0) + (one.judging?.costUsd ?? 0), 0);
  return ` --max-usd ${Number((Math.max(maxRunUsd, spentUsd) * 2).toPrecision(2))}`;
}

function toFollowUp(runId: string, failures: readonly Failure[]): string {
  const resumable = failures.some(({ outcome }) => RESUMABLE.some((kind) => kind === outcome));
  if (resumable) return `assay resume ${runId}`;
  const caseId = failures[0]?.examples[0]?.caseId;
  return caseId === undefined
    ? `assay report ${runId} --format json`
    : `assay show ${runId} ${quoteWord(caseId)}`;
}

/** A case id as one word of a shell. */
const quoteWord = (word: string): string =>
  /^[\w.,:/@%+-]+$/.test(word) && !word.startsWith('-')
    ? word
    : `'${word.replaceAll("'", String.raw`'\''`)}'`;
