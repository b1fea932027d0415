import * as workflow from '@temporalio/workflow';
import type { ApprovalNeed } from '../domain/approval.ts';
import type { Reason } from '../domain/outcome.ts';
import type { PreparedRun, RunResult } from '../domain/workflow-brief.ts';
import { closing, planning, preparingOn } from './activities.ts';
import { KEYS_MISSING, PLACES_FREED, RUN_PROGRESS } from './messages.ts';
import type { KeysMissing, PlacesFreed, RunInput } from './messages.ts';
import { formatAwaiting, formatEnd, PREPARING } from './progress.ts';
import { RunConductor, type Carried } from './run-conductor.ts';
import { RunControls } from './run-controls.ts';
import { handleMessages } from './run-messages.ts';
import { NO_TOTALS } from './run-window.ts';
import { toRunAttribute } from './search-attributes.ts';

/**
 * Workflow `run`, id `run/<run>`: one submission from preparing to its final state. Starts task workflows in
 * scheduler order under its window of places; task workflows signal places that they free. Cancelling it
 * freezes the final state first, then drains the tree with its cleanup. The deadline is a timer in here.
 * People steer it by the updates and signals of `run-messages.ts`; with `approval` it waits for their word.
 * Drains and continues as new at about 8,000 events. Owns the run row: whatever happens, it settles it.
 */
export async function run(input: RunInput & { readonly carried?: Carried }): Promise<RunResult> {
  const runId = input.runId ?? workflow.workflowInfo().workflowId.replace(/^run\//, '');
  const root = workflow.CancellationScope.current();
  const controls = new RunControls(runId, input.carried?.control ?? null);
  handleMessages(controls);
  const begun = input.carried ?? (await begin(input, controls));
  if ('result' in begun) return begun.result;
  const conductor = new RunConductor(begun, controls);
  workflow.setHandler(workflow.defineSignal<[PlacesFreed]>(PLACES_FREED), (report) =>
    conductor.freed(report),
  );
  workflow.setHandler(workflow.defineSignal<[KeysMissing]>(KEYS_MISSING), ({ names }) =>
    conductor.waitForKeys(names),
  );
  workflow.setHandler(workflow.defineQuery(RUN_PROGRESS), () => conductor.progress(), {
    description: 'Where the run stands, as its workflow knows it.',
  });
  const next = await workflow.CancellationScope.nonCancellable(() => conductor.conduct(root));
  if (next !== null) return await workflow.continueAsNew<typeof run>({ ...input, runId, carried: next });
  const result = await workflow.CancellationScope.nonCancellable(() => conductor.settle());
  if (result.state === 'cancelled') throw new workflow.CancelledFailure(`run ${runId} was cancelled`);
  return result;
}

/** Prepares the run; a run that cannot be prepared ends here, with its row saying why. */
async function begin(
  input: RunInput,
  controls: RunControls,
): Promise<Carried | { readonly result: RunResult }> {
  const { runId } = controls;
  workflow.setCurrentDetails(PREPARING);
  try {
    const prepared = await prepare({ ...input, runId });
    if (prepared.kind === 'over') {
      controls.end();
      workflow.setCurrentDetails(formatEnd(prepared.result));
      return { result: prepared.result };
    }
    if (prepared.run.searchAttributes) workflow.upsertSearchAttributes(toRunAttribute(runId));
    const refusal = prepared.approval === null ? null : await awaitApproval(prepared.approval, controls);
    if (refusal !== null) return { result: await refuse(runId, refusal) };
    controls.open(prepared.run, prepared.approval === null ? prepared.run.startedAtMs : Date.now());
    return { prepared, afterTask: 0, totals: NO_TOTALS, control: controls.state };
  } catch (error) {
    controls.end();
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

/** On any host; where only another one can, there. */
async function prepare(
  input: RunInput & { readonly runId: string },
): Promise<Exclude<PreparedRun, { kind: 'elsewhere' }>> {
  const prepared = await planning.prepare(input);
  if (prepared.kind !== 'elsewhere') return prepared;
  const there = await preparingOn(prepared.hostId).prepare({ ...input, isSentHere: true });
  if (there.kind === 'elsewhere') throw new Error(`host ${prepared.hostId} sent the run on`);
  return there;
}

async function awaitApproval(need: ApprovalNeed, controls: RunControls): Promise<Reason | null> {
  workflow.setCurrentDetails(formatAwaiting(controls.runId, need));
  return await controls.awaitApproval(need);
}

/** Nobody approved: every cell says so, and the workflow ends by itself. */
async function refuse(runId: string, reason: Reason): Promise<RunResult> {
  const freeze = { state: 'cancelled', reason } as const;
  const result = await workflow.CancellationScope.nonCancellable(() =>
    closing.settleRun({ runId, freeze, faults: [] }),
  );
  workflow.setCurrentDetails(formatEnd(result));
  await workflow.condition(workflow.allHandlersFinished);
  return result;
}

/** Asked to resume what was never there: no row is made for it. */
const isUnknownRun = (error: unknown): boolean =>
  error instanceof workflow.ActivityFailure &&
  error.cause instanceof workflow.ApplicationFailure &&
  error.cause.type === 'UnknownRun';
