import * as workflow from '@temporalio/workflow';
import type { RunResult } from '../domain/workflow-brief.ts';
import { closing, planning } from './activities.ts';
import { KEYS_MISSING, PLACES_FREED } from './messages.ts';
import type { KeysMissing, PlacesFreed, RunInput } from './messages.ts';
import { formatEnd, PREPARING } from './progress.ts';
import { RunConductor, type Carried } from './run-conductor.ts';
import { NO_TOTALS } from './run-window.ts';
import { toRunAttribute } from './search-attributes.ts';

/**
 * Workflow `run`, id `run/<run>`: one submission from preparing to its final state. Starts task workflows in
 * scheduler order under its window of places; task workflows signal places that they free. Cancelling it
 * freezes the final state first, then drains the tree with its cleanup. The deadline is a timer in here.
 * Drains and continues as new at about 8,000 events. Owns the run row: whatever happens, it settles it.
 */
export async function run(input: RunInput & { readonly carried?: Carried }): Promise<RunResult> {
  const runId = input.runId ?? workflow.workflowInfo().workflowId.replace(/^run\//, '');
  const root = workflow.CancellationScope.current();
  const begun = input.carried ?? (await begin(input, runId));
  if ('result' in begun) return begun.result;
  const conductor = new RunConductor(begun);
  workflow.setHandler(workflow.defineSignal<[PlacesFreed]>(PLACES_FREED), (report) =>
    conductor.freed(report),
  );
  workflow.setHandler(workflow.defineSignal<[KeysMissing]>(KEYS_MISSING), ({ names }) =>
    conductor.waitForKeys(names),
  );
  const next = await workflow.CancellationScope.nonCancellable(() => conductor.conduct(root));
  if (next !== null) return await workflow.continueAsNew<typeof run>({ ...input, runId, carried: next });
  const result = await workflow.CancellationScope.nonCancellable(() => conductor.settle());
  if (result.state === 'cancelled') throw new workflow.CancelledFailure(`run ${runId} was cancelled`);
  return result;
}

/** Prepares the run; a run that cannot be prepared ends here, with its row saying why. */
async function begin(input: RunInput, runId: string): Promise<Carried | { readonly result: RunResult }> {
  workflow.setCurrentDetails(PREPARING);
  try {
    const prepared = await planning.prepare({ ...input, runId });
    if (prepared.kind === 'over') {
      workflow.setCurrentDetails(formatEnd(prepared.result));
      return { result: prepared.result };
    }
    if (prepared.run.searchAttributes) workflow.upsertSearchAttributes(toRunAttribute(runId));
    return { prepared, afterTask: 0, totals: NO_TOTALS };
  } catch (error) {
    if (isUnknownRun(error)) throw error;
    const cancelled = workflow.isCancellation(error);
    const message =
      error instanceof workflow.ActivityFailure ? (error.cause?.message ?? error.message) : String(error);
    const reason = cancelled
      ? { code: 'cancelled', phase: 'prepare' as const, message: 'cancelled before anything was started' }
      : { code: 'preparation_failed', phase: 'prepare' as const, message };
    await workflow.CancellationScope.nonCancellable(() =>
      closing.settleRun({ runId, freeze: { state: cancelled ? 'cancelled' : 'failed', reason }, faults: [] }),
    );
    throw error;
  }
}

/** Asked to resume what was never there: no row is made for it. */
const isUnknownRun = (error: unknown): boolean =>
  error instanceof workflow.ActivityFailure &&
  error.cause instanceof workflow.ApplicationFailure &&
  error.cause.type === 'UnknownRun';
