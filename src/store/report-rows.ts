import type { AttemptKey } from '../domain/ids.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { RunPlan } from '../domain/plan.ts';
import type {
  CellOrigin,
  ReportCell,
  ReportModel,
  ReportRequest,
  ReportRows,
  RunFacts,
} from '../domain/report-rows.ts';
import { loadAnalyses } from './analyses.ts';
import type { CallSums, TrySums } from './call-sums.ts';
import { addTries, loadTrySums } from './call-sums.ts';
import { loadPlan } from './plans.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import type { RunRow } from './runs.ts';
import { loadGrading } from './gradings.ts';
import { loadReuse } from './reuse.ts';
import { loadRun } from './runs.ts';
import { loadScores, toCellName } from './scores.ts';
import { unescapeNullable, unescapeText } from './text.ts';

/** Everything that a report of a run is made of. Throws when the run is unknown or not prepared. */
export async function loadReportRows(db: Db, runId: string): Promise<ReportRows> {
  const run = await loadRun(db, runId);
  if (run === null) throw new Error(`There is no run ${runId}.`);
  const plan = await loadPlan(db, runId);
  const cells = await loadCells(db, runId);
  // A model that was skipped at first and has run since, or whose cells were all taken from another run, is not.
  const skipped = new Set(cells.flatMap((cell) => (cell.outcome?.kind === 'skipped' ? cell.modelId : [])));
  return {
    run: await loadFacts(db, run, plan),
    models: plan.spec.models.map((model) => toModel(model, plan, skipped)),
    requests: plan.requests.map(toRequest),
    cells,
  };
}

async function loadFacts(db: Db, run: RunRow, plan: RunPlan): Promise<RunFacts> {
  const grading = await loadGrading(db, run);
  const [caps] = await selectRows<Caps>(db, {
    text: 'select max_run_usd, max_model_usd, max_run_tokens from runs where run_id = $1',
    values: [run.runId],
  });
  return {
    runId: run.runId,
    name: run.name,
    state: run.state,
    reason: run.reason,
    createdAt: run.createdAt,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    generation: run.generation,
    seed: plan.spec.execution.seed,
    caps: {
      maxRunUsd: caps?.max_run_usd ?? null,
      maxModelUsd: caps?.max_model_usd ?? null,
      maxRunTokens: caps?.max_run_tokens ?? null,
    },
    scoreVersion: grading.scoreVersion,
    scoredBy: grading.scorers?.map(({ name }) => name) ?? null,
    reuse: await loadReuse(db, run.runId),
    gates: plan.spec.gates,
    ...(plan.spec.ranking === undefined ? {} : { ranking: plan.spec.ranking }),
    ...(Object.keys(plan.spec.context).length === 0 ? {} : { context: plan.spec.context }),
    ...(plan.spec.judges === undefined
      ? {}
      : { judges: plan.spec.judges.map(({ id, model }) => ({ judgeId: id, model })) }),
    warnings: await loadWarnings(db, run.runId),
  };
}

async function loadWarnings(db: Db, runId: string): Promise<string[]> {
  const rows = await selectRows<{ warning: string }>(db, {
    text: `select format('The budget of %s was passed: %s; %s.',
        case scope when 'run' then 'the run' else 'model ' || substr(scope, 7) end,
        concat_ws(', ', case when cap_usd is not null then format('%s of %s USD', trim_scale(spent_usd), trim_scale(cap_usd)) end,
          case when cap_tokens is not null then format('%s of %s tokens', spent_tokens, cap_tokens) end),
        case when exceeded_at is null then 'no call starts any more' else 'the run went on as onExceed says' end) as warning
      from reservations where run_id = $1
        and (exceeded_at is not null or spent_usd > cap_usd or spent_tokens > cap_tokens)
      union all
      select format('%s requests were cut off or answered without usage; they are charged at their worst case.',
        count(*)) from model_calls where run_id = $1 and estimated and purpose <> 'command' having count(*) > 0
      union all
      select format('%s agents did not say what they used: their tokens and cost are unknown.', count(*))
      from model_calls where run_id = $1 and estimated and purpose = 'command' and state = 'completed'
      having count(*) > 0
      union all
      select format('%s results came after the run was settled; they are kept and count nowhere.', count(*))
      from tries where run_id = $1 and late having count(*) > 0`,
    values: [runId],
  });
  return rows.map(({ warning }) => unescapeText(warning));
}

const toModel = (
  model: RunPlan['spec']['models'][number],
  plan: RunPlan,
  skipped: ReadonlySet<string>,
): ReportModel => ({
  modelId: model.id,
  model: model.model,
  providerId: model.providerId,
  price: model.price,
  skippedReason: skipped.has(model.id)
    ? (plan.skippedModels.find(({ modelId }) => modelId === model.id)?.reason ?? null)
    : null,
});

const toRequest = (request: RunPlan['requests'][number]): ReportRequest => ({
  index: request.index,
  name: request.spec.name,
  suiteName: request.suiteName,
  suiteVersion: request.suiteVersion,
  suiteDigest: request.suiteDigest,
  caseCount: request.caseCount,
  modelIds: request.spec.modelIds,
  harness: request.spec.harness.kind,
  environment: request.spec.environment.kind,
  attempts: request.spec.attempts,
  failure: request.failure,
});

/** Joined by key here and not in one statement: the sums of a fresh run are what no planner can estimate. */
async function loadCells(db: Db, runId: string): Promise<ReportCell[]> {
  const scores = await loadScores(db, { runId });
  const analyses = Map.groupBy(await loadAnalyses(db, { runId }), toCellName);
  const rows = await selectRows<StoredCell>(db, {
    text: 'select * from list_report_cells($1)',
    values: [runId],
  });
  const sumsOf = await loadSumsOfRuns(db, [runId, ...rows.flatMap((row) => row.origin_run ?? [])]);
  return rows.map((row) =>
    toCell(row, {
      scores: scores.get(toCellName(row)) ?? [],
      analyses: (analyses.get(toCellName(row)) ?? []).map(
        ({ task: _task, attempt: _attempt, generation: _generation, ...analysis }) => analysis,
      ),
      ...toSums(row, runId, sumsOf),
    }),
  );
}

type SumsOf = ReadonlyMap<string, ReadonlyMap<string, TrySums[]>>;

async function loadSumsOfRuns(db: Db, runIds: readonly string[]): Promise<SumsOf> {
  const sums = new Map<string, ReadonlyMap<string, TrySums[]>>();
  for (const runId of new Set(runIds)) sums.set(runId, await loadTrySums(db, runId));
  return sums;
}

/** What a cell took in its own run, and where its answer is of another, what that took there. */
function toSums(
  row: StoredCell,
  runId: string,
  sumsOf: SumsOf,
): { readonly sums: CallSums; readonly origin: CellOrigin | null } {
  const origin = toOrigin(row);
  const of = (cell: AttemptKey, tryNumber = row.try_number): CallSums =>
    addTries(sumsOf.get(cell.runId)?.get(`${cell.task}/${cell.attempt}`) ?? [], { ...cell, tryNumber });
  if (origin === null) return { sums: of({ ...row, runId }), origin };
  if (origin.runId === runId) return { sums: of(origin), origin: null };
  const { costUsd, priced, latencyMs } = of(origin);
  // Here it was graded at most, and no try of that is wasted.
  return { sums: { ...of({ ...row, runId }, 0), latencyMs }, origin: { ...origin, costUsd, priced } };
}

const toOrigin = (row: StoredCell): Omit<CellOrigin, 'costUsd' | 'priced'> | null =>
  row.origin_run === null || row.origin_task === null
    ? null
    : {
        runId: row.origin_run,
        task: row.origin_task,
        attempt: row.origin_attempt ?? 1,
        generation: row.origin_generation ?? 1,
        mismatch: row.mismatch,
      };

const toCell = (
  row: StoredCell,
  {
    scores,
    analyses,
    sums,
    origin,
  }: Pick<ReportCell, 'scores' | 'analyses' | 'origin'> & { readonly sums: CallSums },
): ReportCell => ({
  requestIndex: row.request_index,
  requestName: unescapeText(row.request_name),
  task: row.task,
  modelId: unescapeText(row.model_id),
  caseId: unescapeText(row.case_id),
  attempt: row.attempt,
  generation: row.generation,
  outcome: row.detail === null ? null : (JSON.parse(row.detail) as Outcome),
  weight: row.weight,
  cluster: unescapeNullable(row.cluster),
  tags: JSON.parse(row.tags) as string[],
  scores,
  analyses,
  ...sums,
  origin,
  answerPreview: unescapeNullable(row.answer_preview),
});

type Caps = {
  readonly max_run_usd: number | null;
  readonly max_model_usd: number | null;
  readonly max_run_tokens: number | null;
};

type StoredCell = {
  readonly task: number;
  readonly request_index: number;
  readonly request_name: string;
  readonly model_id: string;
  readonly case_id: string;
  readonly attempt: number;
  readonly generation: number;
  readonly try_number: number;
  readonly detail: string | null;
  readonly answer_preview: string | null;
  readonly weight: number;
  readonly cluster: string | null;
  readonly tags: string;
  readonly origin_run: string | null;
  readonly origin_task: number | null;
  readonly origin_attempt: number | null;
  readonly origin_generation: number | null;
  readonly mismatch: boolean;
};
