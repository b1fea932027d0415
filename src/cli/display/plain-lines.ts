import type { RunProgress } from '../../client/progress.ts';
import { sumProgress } from '../../client/progress.ts';
import { TRIP_WORDS } from '../../domain/engine-sign.ts';
import { countOf, formatDuration, formatMoment, formatState, formatUsd } from '../format.ts';
import { describeWait } from '../waiting-run.ts';

/** What has been printed last. */
export type PrintedLine = { readonly atMs: number; readonly text: string; readonly state: string };

const SHORTEST_MS = 1_000;
const USUAL_MS = 2_000;

/**
 * Whether a line is due: only when it says something new; a new state after a second, figures after two,
 * the last line of a run always.
 */
export function isLineDue(
  next: { readonly nowMs: number; readonly text: string; readonly state: string; readonly last: boolean },
  printed: PrintedLine | null,
): boolean {
  if (printed === null) return true;
  if (next.text === printed.text && next.state === printed.state) return false;
  if (next.last) return true;
  return next.nowMs - printed.atMs >= (next.state === printed.state ? USUAL_MS : SHORTEST_MS);
}

/** One line for a log: `running  142 of 300 cells · 120 passed · 2 errors · $0.31 · about 1m 20s left`. */
export function formatPlainLine(progress: RunProgress, remainingMs: number | null): string {
  const totals = sumProgress(progress.rows);
  if (totals.planned === 0) return formatState(progress.state);
  const facts = [`${totals.done} of ${countOf(totals.planned, 'cell')}`, `${totals.pass} passed`];
  if (totals.errors > 0) facts.push(countOf(totals.errors, 'error'));
  if (totals.unscored > 0) facts.push(`${totals.unscored} unscored`);
  if (totals.skipped > 0) facts.push(`${totals.skipped} skipped`);
  if (totals.notRun > 0) facts.push(`${totals.notRun} not run`);
  if (totals.done > 0) facts.push(`${formatUsd(totals.costUsd)}${ofCap(progress)}`);
  if (totals.inFlight > 0) facts.push(`${totals.inFlight} in flight`);
  if (totals.waiting > 0) facts.push(`${totals.waiting} waiting`);
  if (remainingMs !== null && remainingMs > 0) facts.push(`about ${formatDuration(remainingMs)} left`);
  for (const { trip, kind, baseUrl } of progress.engines)
    if (trip !== null)
      facts.push(`${baseUrl ?? kind} is down: ${TRIP_WORDS[trip.reason]}${toUntil(trip.until)}`);
  const wait = describeWait(progress);
  return `${formatState(progress.state)}  ${facts.join(' · ')}${wait === null ? '' : `\n${wait}`}`;
}

const toUntil = (until: string | null): string =>
  until === null ? '' : `, asked once more at ${formatMoment(until)}`;

const ofCap = ({ budget }: RunProgress): string =>
  budget?.capUsd == null ? '' : ` (${formatUsd(budget.spentUsd)} of ${formatUsd(budget.capUsd)} used)`;
