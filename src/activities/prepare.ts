import { activityInfo } from '@temporalio/activity';
import type { ReadRun } from './read-document.ts';
import { describeNeed, estimateOpenUsd, findApprovalNeed, type ApprovalNeed } from '../domain/approval.ts';
import { estimateRun } from '../domain/estimate.ts';
import { callsProvider, listOneStepRequests } from '../domain/calls-provider.ts';
import { orderTasks } from '../domain/order-tasks.ts';
import type { RunPlan, SkippedModel } from '../domain/plan.ts';
import type { RunSpec } from '../domain/run.ts';
import type { PreparedRun, RunInput } from '../domain/workflow-brief.ts';
import { toEngineId } from '../providers/lookup.ts';
import { resetEngines } from '../store/engine-health.ts';
import { saveRunEngines, type EngineSpec } from '../store/engines.ts';
import { countCellsByModel, loadOutcomeCounts } from '../store/outcome-counts.ts';
import { loadPlan, planGeneration } from '../store/plans.ts';
import { savePreparedRun } from '../store/prepared-run.ts';
import { finishRun, insertRun, loadRun, setRunState, type RunRow } from '../store/runs.ts';
import { listAgentEngines } from './agent-engine.ts';
import { awaitKeys } from './await-keys.ts';
import type { Dependencies } from './dependencies.ts';
import { fatal } from './failure.ts';
import { printTasks } from './fingerprints.ts';
import { withHeartbeat } from './heartbeat.ts';
import { checkEnvironments } from './check-environments.ts';
import { checkModule } from './check-module.ts';
import { findSkipped, preflight } from './preflight.ts';
import { readDocument } from './read-document.ts';
import { toBrief } from './run-brief.ts';
import { toRequestPlans } from './request-plans.ts';
import { loadSource, reuseCells } from './reuse.ts';
import { openGrading } from './score-again.ts';
import { workflowIdOf } from './workflow-id.ts';

export type PrepareInput = RunInput & {
  readonly runId: string;
  /** Sent to this host by the one that was asked first. */
  readonly isSentHere?: boolean;
};

/** Activity `prepare`: from a document to a recorded plan, or back to a run that is there already. */
export const createPreparing = (dependencies: Dependencies) => ({
  prepare: (input: PrepareInput): Promise<PreparedRun> => withHeartbeat(() => prepare(dependencies, input)),
});

async function prepare(dependencies: Dependencies, input: PrepareInput): Promise<PreparedRun> {
  const { db } = dependencies;
  const run = await loadRun(db, input.runId);
  if (run === null && input.resume !== undefined) {
    throw fatal('UnknownRun', `there is no run "${input.runId}" to resume in this database`);
  }
  if (run !== null && input.resume !== undefined) return await reopen(dependencies, run, input);
  if (input.score !== undefined) return await scoreAgain(dependencies, run, input);
  if (run !== null && run.finishedAt !== null) return await over(dependencies, run);
  if (run === null || run.planDigest === null) {
    const elsewhere = await plan(dependencies, input);
    if (elsewhere !== null) return elsewhere;
  }
  return await ready(dependencies, input);
}

/** The run has ended before: whoever starts it again gets its result. */
async function over({ db }: Dependencies, run: RunRow): Promise<PreparedRun> {
  const end = await finishRun(db, run);
  const reason =
    run.reason === null ? null : ({ code: run.state, phase: 'run', message: run.reason } as const);
  const outcomes = await loadOutcomeCounts(db, run.runId);
  return { kind: 'over', result: { runId: run.runId, ...end, reason, outcomes, missing: [] } };
}

/** From here on the run is running, or it waits for somebody's word about what is left to spend. */
async function ready(dependencies: Dependencies, input: PrepareInput): Promise<PreparedRun> {
  const { db } = dependencies;
  const { runId } = input;
  const plan = await loadPlan(db, runId);
  const approval = input.approved === true ? null : await findNeed(dependencies, plan);
  if (approval === null) await setRunState(db, { runId, state: 'running' });
  else await setRunState(db, { runId, state: 'awaiting_approval', note: describeNeed(approval) });
  const run = await loadRun(db, runId);
  if (run === null) throw fatal('UnknownRun', `there is no run "${runId}" in this database`);
  return { ...(await toBrief(dependencies, run, plan)), approval };
}

async function findNeed(
  { db }: Dependencies,
  { runId, spec, estimate }: RunPlan,
): Promise<ApprovalNeed | null> {
  if (spec.budgets.confirmAboveUsd === null) return null;
  const oneStepRequests = listOneStepRequests(spec);
  const openCells = await countCellsByModel(db, { runId, outcomes: [], oneStepRequests });
  return findApprovalNeed(spec.budgets, estimateOpenUsd(estimate, openCells));
}

/** Opens the next generation with every answer that can be graded; a redelivery finds it open. */
async function scoreAgain(
  dependencies: Dependencies,
  run: RunRow | null,
  input: PrepareInput,
): Promise<PreparedRun> {
  const { runId, score = {} } = input;
  if (run === null) throw fatal('UnknownRun', `there is no run "${runId}" to score in this database`);
  if (run.planDigest === null) throw fatal('InvalidRun', `run "${runId}" was not planned: it has no answers`);
  const plan = await loadPlan(dependencies.db, runId);
  await openGrading(dependencies, plan, score);
  // Nobody but judges is called.
  const engines = listEngines({ ...plan.spec, models: [] }, []);
  await saveRunEngines(dependencies.db, { runId, engines });
  await resetEngines(dependencies.db, { runId, engineIds: engines.map(({ engineId }) => engineId) });
  return await ready(dependencies, input);
}

/** Opens the next generation with exactly the asked cells; a redelivery finds it open. */
async function reopen(dependencies: Dependencies, run: RunRow, input: PrepareInput): Promise<PreparedRun> {
  const { resume, runId } = input;
  if (resume === undefined) throw new Error('nothing to resume was given');
  if (run.planDigest === null) {
    throw fatal('InvalidRun', `run "${runId}" never got past its preparation; start it again under a new id`);
  }
  await awaitKeys(dependencies, input);
  const { outcomes, ...budgets } = resume;
  const token = activityInfo().workflowExecution?.runId ?? workflowIdOf();
  const { spec, skippedModels: before } = await loadPlan(dependencies.db, runId);
  const wereSkipped = spec.models.filter((model) => before.some(({ modelId }) => modelId === model.id));
  const skipped = await findSkipped(dependencies, spec, wereSkipped);
  const skippedModels = skipped.map(({ modelId }) => modelId);
  const oneStepRequests = listOneStepRequests(spec);
  const asked = { runId, token, outcomes, budgets, skippedModels, oneStepRequests };
  const opened = await planGeneration(dependencies.db, asked);
  if (opened.cells === 0) return await over(dependencies, run);
  const engines = listEngines(spec, skipped);
  await saveRunEngines(dependencies.db, { runId, engines });
  await askAgain(dependencies, { runId, spec, engines });
  return await ready(dependencies, input);
}

type Elsewhere = Extract<PreparedRun, { kind: 'elsewhere' }>;

/** Null = the plan is recorded. */
async function plan(dependencies: Dependencies, input: PrepareInput): Promise<Elsewhere | null> {
  const { db } = dependencies;
  const { runId, reuse } = input;
  const read = await readDocument(dependencies, input);
  const documentDigest = input.documentDigest ?? null;
  await insertRun(db, { runId, name: read.spec.name, documentDigest, workflowId: workflowIdOf() });
  const source = reuse === undefined ? null : await loadSource(dependencies, reuse, runId);
  await checkModule(dependencies, read.spec);
  await awaitKeys(dependencies, input);
  const skippedModels = await preflight(dependencies, read.spec);
  const checked = await checkEnvironments(dependencies, {
    spec: read.spec,
    // What is taken from another run has to be known before anything starts.
    tasks: reuse === undefined ? countTasks(read, skippedModels) : [],
    isSentHere: input.isSentHere === true,
  });
  if (checked.kind === 'elsewhere') return checked;
  const spec = { ...read.spec, requests: checked.requests.map((one) => one.spec) };
  const loaded = { ...read, spec };
  const estimate = estimateRun(spec, loaded.suites);
  const requests = toRequestPlans(loaded, checked.requests);
  const engines = listEngines(spec, skippedModels);
  const runPlan: RunPlan = { format: 1, runId, spec, requests, skippedModels, estimate };
  const tasks = orderTasks(
    requests.map((request) => ({ spec: request.spec, caseIds: caseIdsOf(loaded, request.spec.suiteKey) })),
  );
  const printed = printTasks(dependencies, loaded, tasks);
  await savePreparedRun(db, {
    plan: runPlan,
    suites: loaded.suites,
    ...printed,
    engines,
    alsoSave: async (client) => {
      if (source === null) return;
      const allowMismatch = reuse?.allowMismatch === true;
      await reuseCells(dependencies, client, { plan: runPlan, source, allowMismatch });
    },
  });
  await askAgain(dependencies, { runId, spec, engines });
  return null;
}

/** Whoever starts or resumes a run has mended what was down, or believes so: one call of each finds out. */
const askAgain = (
  { db }: Dependencies,
  {
    runId,
    spec,
    engines,
  }: { readonly runId: string; readonly spec: RunSpec; readonly engines: readonly EngineSpec[] },
): Promise<void> => {
  const engineIds = [...engines.map(({ engineId }) => engineId), ...listAgentEngines(spec)];
  return resetEngines(db, { runId, engineIds });
};

/** Engines of the models and judges that are called. */
function listEngines(spec: RunSpec, skipped: readonly SkippedModel[]): readonly EngineSpec[] {
  const called = spec.models.filter(
    ({ id }) =>
      spec.requests.some((request) => callsProvider(request) && request.modelIds.includes(id)) &&
      !skipped.some(({ modelId }) => modelId === id),
  );
  return spec.providers
    .filter((provider) =>
      [...called, ...(spec.judges ?? [])].some(({ providerId }) => providerId === provider.id),
    )
    .map((provider) => ({ ...provider, engineId: toEngineId(provider) }));
}

/** Tasks by request that there will be to run. */
const countTasks = (read: ReadRun, skipped: readonly SkippedModel[]): readonly number[] =>
  read.spec.requests.map((request) => {
    const models = request.modelIds.filter((id) => !skipped.some(({ modelId }) => modelId === id));
    return models.length * caseIdsOf(read, request.suiteKey).length;
  });

const caseIdsOf = (loaded: ReadRun, suiteKey: string): readonly string[] =>
  loaded.suites.get(suiteKey)?.cases.map((one) => one.testCase.id) ?? [];
