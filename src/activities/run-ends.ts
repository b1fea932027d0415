import { formatCount } from '../domain/format-count.ts';
import type { Reason, TerminalState } from '../domain/outcome.ts';
import type { TaskRef } from '../domain/plan.ts';
import type { RunResult } from '../domain/workflow-brief.ts';
import { toEngineId } from '../providers/lookup.ts';
import { settleUnrecorded } from '../store/attempts.ts';
import { listBlocked, listDownEngines } from '../store/engine-health.ts';
import { loadOutcomeCounts } from '../store/outcome-counts.ts';
import { listTaskRefs, loadPlan } from '../store/plans.ts';
import { explainUnprepared } from '../store/requests.ts';
import { loadStoppedModels } from '../store/reservations.ts';
import { finishRun, freezeRun, insertRun, loadRun, type MissingCell, type RunRow } from '../store/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { listAgentEngines } from './agent-engine.ts';
import { blockEngine } from './engine-watch.ts';
import { fatal } from './failure.ts';
import { withHeartbeat } from './heartbeat.ts';
import { workflowIdOf } from './workflow-id.ts';

export type TaskPage = { readonly tasks: readonly TaskRef[]; readonly more: boolean };

type Freeze = { readonly state: TerminalState; readonly reason: Reason };

const MAX_PAGE_BYTES = 48 * 1024;

/** What a run asks of the store between its preparation and its end. All idempotent. */
export const createRunEnds = (dependencies: Dependencies) => ({
  /** The next tasks in scheduler order, as many as fit into one small payload. */
  async listTasks(page: {
    readonly runId: string;
    readonly generation: number;
    readonly afterTask: number;
    readonly limit: number;
  }): Promise<TaskPage> {
    const tasks = await listTaskRefs(dependencies.db, page);
    const fitting = takeFitting(tasks);
    return { tasks: fitting, more: fitting.length < tasks.length || tasks.length === page.limit };
  },

  async freezeRun({ runId, state, reason }: { readonly runId: string } & Freeze): Promise<void> {
    await freezeRun(dependencies.db, { runId, state, reason: reason.message });
  },

  /** Gives every open cell of a stopped run its outcome, checks that the set is complete, ends the run. */
  settleRun: (end: RunEnding): Promise<RunResult> => withHeartbeat(() => settleRun(dependencies, end)),
});

export type RunEnding = {
  readonly runId: string;
  readonly freeze: Freeze | null;
  readonly faults: readonly string[];
};

/** Freezes the run's end, gives its open cells their outcomes, and returns the result. Idempotent. */
export async function settleRun(dependencies: Pick<Dependencies, 'db'>, end: RunEnding): Promise<RunResult> {
  const { db } = dependencies;
  const run = (await loadRun(db, end.runId)) ?? (await insertRefused(dependencies, end));
  const frozen = await freeze(dependencies, { run, wanted: end.freeze });
  if (frozen !== null) await settleUnrecorded(db, { ...run, reason: frozen });
  else if (run.planDigest !== null) await blockLeftOver(dependencies, run);
  const blocked = run.planDigest === null ? null : await explainBlocked(db, run.runId);
  const result = await finishRun(db, { ...run, note: blocked?.message ?? null });
  const reason = frozen ?? (await explainFailedRequests(db, end.runId)) ?? blocked;
  const outcomes = await loadOutcomeCounts(db, end.runId);
  const missing = result.missing.map(formatMissing);
  return {
    runId: end.runId,
    state: result.state,
    reason: reason ?? explainMissing(missing, end.faults),
    planned: result.planned,
    recorded: result.recorded,
    outcomes,
    missing,
  };
}

/** Cells of engines that are down, which nobody has told so. */
async function blockLeftOver({ db }: Pick<Dependencies, 'db'>, { runId, generation }: RunRow): Promise<void> {
  const plan = await loadPlan(db, runId);
  const engineIds = [...plan.spec.providers.map(toEngineId), ...listAgentEngines(plan.spec)];
  for (const down of await listDownEngines(db, engineIds))
    await blockEngine({ db }, { plan, generation }, down);
}

/** One sentence for each engine that kept cells from the run; null = none did. */
async function explainBlocked(db: Dependencies['db'], runId: string): Promise<Reason | null> {
  const blocked = await listBlocked(db, runId);
  if (blocked.length === 0) return null;
  const lines = blocked.map(
    ({ cells, reason }) => `${formatCount(cells, 'cell')} not run: ${reason.message}`,
  );
  return { code: 'engine_down', phase: 'run', message: lines.join('. ').slice(0, 2_000) };
}

/** Requests that could not be prepared, which keep the run from being completed; null = there is none. */
async function explainFailedRequests(db: Dependencies['db'], runId: string): Promise<Reason | null> {
  const message = await explainUnprepared(db, runId);
  return message === null
    ? null
    : { code: 'preparation', phase: 'prepare', message: message.slice(0, 2_000) };
}

function takeFitting(tasks: readonly TaskRef[]): readonly TaskRef[] {
  let bytes = 0;
  const end = tasks.findIndex((task) => {
    bytes += Buffer.byteLength(JSON.stringify(task));
    return bytes > MAX_PAGE_BYTES;
  });
  return end <= 0 ? tasks.slice(0, end === 0 ? 1 : undefined) : tasks.slice(0, end);
}

/** What the run ends as, when that is not decided by what was recorded; the first decision counts. */
async function freeze(
  { db }: Pick<Dependencies, 'db'>,
  { run, wanted }: { readonly run: RunRow; readonly wanted: Freeze | null },
): Promise<Reason | null> {
  const stopped = run.frozenState === null && wanted === null ? await loadStoppedModels(db, run.runId) : [];
  const decided = wanted ?? (stopped.length > 0 ? toBudgetStop(stopped) : null);
  if (run.frozenState === null && decided === null) return null;
  if (run.frozenState === null && decided !== null) {
    await freezeRun(db, { runId: run.runId, state: decided.state, reason: decided.reason.message });
  }
  const isOwn = run.frozenState === null || run.reason === decided?.reason.message;
  if (isOwn && decided !== null) return decided.reason;
  const state = run.frozenState ?? 'failed';
  const message = run.reason ?? 'the run was stopped';
  return { code: toCode(state), phase: 'run', message };
}

const toBudgetStop = (models: readonly string[]): Freeze => ({
  state: 'stopped_budget',
  reason: {
    code: 'budget',
    phase: 'run',
    message: `budgets.maxModelUsd stopped ${models.join(', ')}; raise it and \`assay resume\``,
  },
});

const toCode = (state: TerminalState): string => (state === 'stopped_budget' ? 'budget' : state);

const explainMissing = (missing: readonly string[], faults: readonly string[]): Reason | null =>
  missing.length === 0
    ? null
    : {
        code: 'missing_cells',
        phase: 'record',
        message: ['cells have no result; `assay resume` runs them', ...faults].join('; ').slice(0, 2_000),
      };

const formatMissing = (cell: MissingCell): string => `${cell.modelId} · ${cell.caseId} · a${cell.attempt}`;

/** A run that was refused or cancelled before its row existed leaves one all the same: it can be asked for. */
async function insertRefused({ db }: Pick<Dependencies, 'db'>, { runId }: RunEnding): Promise<RunRow> {
  await insertRun(db, { runId, name: runId, documentDigest: null, workflowId: workflowIdOf() });
  const run = await loadRun(db, runId);
  if (run === null) throw fatal('UnknownRun', `there is no run "${runId}" in this database`);
  return run;
}
