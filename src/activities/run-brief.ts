import { formatCount } from '../domain/format-count.ts';
import type { RunPlan } from '../domain/plan.ts';
import { toMcpToolName } from '../domain/mcp-server.ts';
import type { HarnessSpec } from '../domain/run.ts';
import { formatTally } from '../domain/tally.ts';
import type { PreparedRun, RequestBrief } from '../domain/workflow-brief.ts';
import { toEngineId } from '../providers/lookup.ts';
import { loadGrading } from '../store/gradings.ts';
import { countOpenCells, loadOutcomeCounts, type OpenCells } from '../store/outcome-counts.ts';
import type { RunRow } from '../store/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { providerOf } from './preflight.ts';
import { withScorers } from './request-plans.ts';
import { findRunTool } from './run-code.ts';

/** Task queue of an engine; workers open it while a run needs it. */
export const toModelQueue = (engineId: string): string => `assay-model-${engineId}`;

/** What the workflows of a prepared run work from. */
export async function toBrief(
  dependencies: Dependencies,
  run: RunRow,
  recorded: RunPlan,
): Promise<Omit<Extract<PreparedRun, { kind: 'ready' }>, 'approval'>> {
  const { db, now } = dependencies;
  const { spec } = recorded;
  const { scorers, scoreVersion } = await loadGrading(db, run);
  const plan = withScorers(recorded, scorers);
  const open = await countOpenCells(db, run);
  const requests = plan.requests.map((request): RequestBrief => ({
    index: request.index,
    name: request.spec.name,
    light: request.light,
    attempts: open.get(request.index)?.cells ?? 0,
    ...toTaskCount(open.get(request.index), request.spec.attempts.k),
    harness: request.spec.harness,
    environmentKind: request.spec.environment.kind,
    ...listToolTimes(dependencies, plan, request.spec.harness),
    sessionScorers: request.sessionScorers,
    evaluation: request.spec.evaluation,
    collects:
      request.spec.environment.kind !== 'none' &&
      (request.spec.artifacts !== undefined || request.spec.evaluation === 'fresh'),
    ...(request.processScorers === true ? { processScorers: true } : {}),
    ...(request.judgeEngines === undefined
      ? {}
      : { judges: request.judgeEngines.map((id) => ({ engineId: id, queue: toModelQueue(id) })) }),
    strategy: request.spec.attempts.strategy,
    k: request.spec.attempts.k,
    limits: request.spec.limits,
    retries: request.spec.retries,
  }));
  const startMs = run.generation === 1 && run.startedAt !== null ? Date.parse(run.startedAt) : now();
  return {
    kind: 'ready',
    run: {
      runId: run.runId,
      generation: run.generation,
      execution: spec.execution,
      modelQueues: Object.fromEntries(
        spec.models.map((model) => [model.id, toModelQueue(toEngineId(providerOf(spec, model)))]),
      ),
      startedAtMs: startMs,
      searchAttributes: await dependencies.hasSearchAttributes(),
      ...(scoreVersion > 1 ? { scoreVersion } : {}),
    },
    requests,
    ...listUnprepared(plan, open),
    plannedCells: [...open.values()].reduce((sum, { cells }) => sum + cells, 0),
    summary: await summarize(dependencies, plan),
  };
}

const toTaskCount = (open: OpenCells | undefined, k: number): Pick<RequestBrief, 'tasks'> =>
  open === undefined || open.tasks * k === open.cells ? {} : { tasks: open.tasks };

/** Those with cells to run; absent = none. */
function listUnprepared(
  { requests }: RunPlan,
  open: ReadonlyMap<number, OpenCells>,
): { readonly unprepared?: readonly number[] } {
  const unprepared = requests
    .filter((request) => request.unprepared === true && open.has(request.index))
    .map(({ index }) => index);
  return unprepared.length === 0 ? {} : { unprepared };
}

/** Workflows give a tool's activity a little longer than the tool. */
function listToolTimes(
  { modules }: Dependencies,
  owner: RunPlan,
  harness: HarnessSpec,
): Pick<RequestBrief, 'toolTimesMs'> {
  if (harness.kind !== 'agent') return {};
  const toolTimesMs: { [tool: string]: number } = {};
  for (const name of harness.tools) {
    const tool = findRunTool(modules, { owner, harness }, name);
    if (tool !== null) toolTimesMs[name] = tool.policy.timeoutMs;
  }
  for (const { name, policies } of harness.mcp ?? []) {
    for (const [tool, { timeoutMs }] of Object.entries(policies))
      if (timeoutMs !== undefined) toolTimesMs[toMcpToolName(name, tool)] = timeoutMs;
  }
  return { toolTimesMs };
}

async function summarize({ db }: Dependencies, plan: RunPlan): Promise<string> {
  const before = formatTally(await loadOutcomeCounts(db, plan.runId));
  const { models, requests } = plan.spec;
  const matrix = `${formatCount(requests.length, 'request')} x ${formatCount(models.length, 'model')}`;
  return before === 'nothing yet' ? matrix : `${matrix} · recorded before: ${before}`;
}
