import type { Outcome } from '../domain/outcome.ts';
import type { RunPlan } from '../domain/plan.ts';
import type { ReportCell, ReportModel, ReportRequest, ReportRows, RunFacts } from '../domain/report-rows.ts';
import type { Score } from '../domain/score.ts';
import { loadPlan } from './plans.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import type { RunRow } from './runs.ts';
import { loadRun } from './runs.ts';
import { loadScores, toCellName } from './scores.ts';
import { unescapeNullable, unescapeText } from './text.ts';

/** Everything that a report of a run is made of. Throws when the run is unknown or not prepared. */
export async function loadReportRows(db: Db, runId: string): Promise<ReportRows> {
  const run = await loadRun(db, runId);
  if (run === null) throw new Error(`There is no run ${runId}.`);
  const plan = await loadPlan(db, runId);
  return {
    run: await loadFacts(db, run, plan),
    models: plan.spec.models.map((model) => toModel(model, plan)),
    requests: plan.requests.map(toRequest),
    cells: await loadCells(db, runId),
  };
}

async function loadFacts(db: Db, run: RunRow, plan: RunPlan): Promise<RunFacts> {
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
    gates: plan.spec.gates,
    warnings: await loadWarnings(db, run.runId),
  };
}

async function loadWarnings(db: Db, runId: string): Promise<string[]> {
  const rows = await selectRows<{ warning: string }>(db, {
    text: `select format('The budget of %s was passed: %s; the run went on as onExceed says.',
        case scope when 'run' then 'the run' else 'model ' || substr(scope, 7) end,
        concat_ws(', ', case when cap_usd is not null then format('%s of %s USD', trim_scale(spent_usd), trim_scale(cap_usd)) end,
          case when cap_tokens is not null then format('%s of %s tokens', spent_tokens, cap_tokens) end)) as warning
      from reservations where run_id = $1 and exceeded_at is not null
      union all
      select format('%s requests were cut off or answered without usage; they are charged at their worst case.',
        count(*)) from model_calls where run_id = $1 and estimated having count(*) > 0
      union all
      select format('%s results came after the run was settled; they are kept and count nowhere.', count(*))
      from tries where run_id = $1 and late having count(*) > 0`,
    values: [runId],
  });
  return rows.map(({ warning }) => unescapeText(warning));
}

const toModel = (model: RunPlan['spec']['models'][number], plan: RunPlan): ReportModel => ({
  modelId: model.id,
  model: model.model,
  providerId: model.providerId,
  price: model.price,
  skippedReason: plan.skippedModels.find(({ modelId }) => modelId === model.id)?.reason ?? null,
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

async function loadCells(db: Db, runId: string): Promise<ReportCell[]> {
  const scores = await loadScores(db, { runId });
  const rows = await selectRows<StoredCell>(db, { text: CELLS, values: [runId] });
  return rows.map((row) => toCell(row, scores.get(toCellName(row)) ?? []));
}

/**
 * Usage is summed over every request of a cell. Wasted is what bought no answer of the try that counts:
 * requests that failed or were given up, earlier tries, earlier generations.
 */
const CELLS = `
  with sums as (
    select c.task, c.attempt,
      sum(c.input_tokens) as input_tokens, sum(c.output_tokens) as output_tokens,
      sum(c.reasoning_tokens) as reasoning_tokens, sum(c.cache_read_tokens) as cache_read_tokens,
      sum(c.cache_write_tokens) as cache_write_tokens, sum(c.cost_usd) as cost_usd,
      sum(c.input_tokens) filter (where wasted) as wasted_input,
      sum(c.output_tokens) filter (where wasted) as wasted_output,
      sum(c.reasoning_tokens) filter (where wasted) as wasted_reasoning,
      sum(c.cache_read_tokens) filter (where wasted) as wasted_read,
      sum(c.cache_write_tokens) filter (where wasted) as wasted_write,
      coalesce(bool_and(c.cost_usd is not null) filter (
        where c.input_tokens > 0 or c.output_tokens > 0 or c.estimated or c.state = 'completed'), true) as priced,
      sum(c.latency_ms) filter (where c.state = 'completed' and c.purpose = 'agent' and not wasted) as latency_ms,
      sum(c.waited_ms) as wait_ms,
      count(*) filter (where c.state = 'completed') as calls,
      count(*) filter (where c.request_number > 1) as retried_calls
    from (
      select m.*, m.state <> 'completed' or m.generation < l.generation or m.try_number < l.try_number as wasted
      from model_calls m join latest_attempts l using (run_id, task, attempt)
      where m.run_id = $1
    ) c
    group by c.task, c.attempt
  )
  select t.task, t.request_index, r.name as request_name, t.model_id, t.case_id, a.attempt, a.generation, a.detail,
    a.answer_preview, c.weight, c.cluster, c.tags, s.input_tokens, s.output_tokens, s.reasoning_tokens,
    s.cache_read_tokens, s.cache_write_tokens, s.cost_usd, coalesce(s.priced, true) as priced, s.latency_ms, s.wait_ms,
    coalesce(s.calls, 0) as calls, coalesce(s.retried_calls, 0) as retried_calls,
    s.wasted_input, s.wasted_output, s.wasted_reasoning, s.wasted_read, s.wasted_write
  from latest_attempts a
  join tasks t on t.run_id = a.run_id and t.task = a.task
  join requests r on r.run_id = t.run_id and r.request_index = t.request_index
  join cases c on c.run_id = t.run_id and c.suite_key = r.suite_key and c.case_id = t.case_id
  left join sums s on s.task = a.task and s.attempt = a.attempt
  where a.run_id = $1
  order by a.task, a.attempt`;

const toCell = (row: StoredCell, scores: readonly Score[]): ReportCell => ({
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
  usage: {
    inputTokens: row.input_tokens,
    outputTokens: row.output_tokens,
    reasoningTokens: row.reasoning_tokens,
    cacheReadTokens: row.cache_read_tokens,
    cacheWriteTokens: row.cache_write_tokens,
  },
  costUsd: row.cost_usd,
  priced: row.priced,
  latencyMs: row.latency_ms,
  waitMs: row.wait_ms,
  calls: row.calls,
  retriedCalls: row.retried_calls,
  wastedUsage: {
    inputTokens: row.wasted_input,
    outputTokens: row.wasted_output,
    reasoningTokens: row.wasted_reasoning,
    cacheReadTokens: row.wasted_read,
    cacheWriteTokens: row.wasted_write,
  },
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
  readonly detail: string | null;
  readonly answer_preview: string | null;
  readonly weight: number;
  readonly cluster: string | null;
  readonly tags: string;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cache_read_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly cost_usd: number | null;
  readonly priced: boolean;
  readonly latency_ms: number | null;
  readonly wait_ms: number | null;
  readonly calls: number;
  readonly retried_calls: number;
  readonly wasted_input: number | null;
  readonly wasted_output: number | null;
  readonly wasted_reasoning: number | null;
  readonly wasted_read: number | null;
  readonly wasted_write: number | null;
};
