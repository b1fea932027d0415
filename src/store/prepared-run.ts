import type { RunPlan } from '../domain/plan.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { Suite, SuiteCase } from '../domain/suite.ts';
import { toJsonBlob } from './blobs.ts';
import type { EngineSpec } from './engines.ts';
import { saveEngines } from './engines.ts';
import type { Db, TransactionalDb } from './pool.ts';
import { inTransaction, selectRows } from './pool.ts';
import { escapeNullable, escapeText } from './text.ts';

export type PreparedTask = {
  readonly task: number;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
  readonly prints: TaskPrints;
};

/** Fingerprints of a task: digests of what its answers and its scores depend on. */
export type TaskPrints = {
  /** Key into the setups of the run. */
  readonly setupDigest: string;
  readonly contentDigest: string;
  readonly gradingDigest: string;
  /** An answer that is recorded can be graded without running anything. */
  readonly gradable: boolean;
};

export type PreparedRun = {
  readonly plan: RunPlan;
  readonly suites: ReadonlyMap<string, Suite>;
  /** In scheduler order, numbered from 1; the tasks of skipped models included. */
  readonly tasks: readonly PreparedTask[];
  /** What answers depend on beside the case, by digest: JSON as it was digested. */
  readonly setups: ReadonlyMap<string, string>;
  readonly engines: readonly EngineSpec[];
  /** What else belongs to the same transaction, once every row is there; what it throws undoes all. */
  readonly alsoSave?: (client: Db) => Promise<void>;
};

const TASKS_AT_ONCE = 10_000;
const CASE_BYTES_AT_ONCE = 8 * 1024 * 1024;

/**
 * Writes everything that a prepared run is made of, in one transaction: plan, requests, cases (targets apart),
 * tasks, the planned cells of generation 1, caps and engines. Cells of a skipped model are `skipped` at once,
 * those of a request that failed in preparation `not_run`. A run that has a plan already stays as it is.
 */
export async function savePreparedRun(
  db: TransactionalDb,
  prepared: PreparedRun,
): Promise<'saved' | 'existing'> {
  const { plan } = prepared;
  return inTransaction(db, async (client) => {
    const [run] = await selectRows<{ plan_digest: string | null }>(client, {
      text: 'select plan_digest from runs where run_id = $1 for update',
      values: [plan.runId],
    });
    if (run === undefined) throw new Error(`There is no run ${plan.runId}: insert it before its plan.`);
    if (run.plan_digest !== null) return 'existing';
    await savePlan(client, prepared);
    await saveSetups(client, prepared.setups);
    await saveRequests(client, plan);
    for (const [suiteKey, suite] of prepared.suites) {
      for (const { start, cases } of splitCases(suite.cases)) {
        await saveCases(client, { runId: plan.runId, suiteKey, start, cases });
      }
    }
    for (let start = 0; start < prepared.tasks.length; start += TASKS_AT_ONCE) {
      await saveTasks(client, plan.runId, prepared.tasks.slice(start, start + TASKS_AT_ONCE));
    }
    await saveCells(client, plan);
    await prepared.alsoSave?.(client);
    await saveEngines(client, prepared.engines);
    await client.query({
      text: 'select set_caps($1, $2)',
      values: [plan.runId, JSON.stringify(toCaps(plan))],
    });
    return 'saved';
  });
}

const toCaps = ({ spec: { budgets } }: RunPlan): object => ({
  maxRunUsd: budgets.maxRunUsd,
  maxModelUsd: budgets.maxModelUsd,
  maxRunTokens: budgets.maxRunTokens,
});

async function savePlan(db: Db, { plan, engines }: PreparedRun): Promise<void> {
  const text = JSON.stringify(plan);
  const { digest } = toJsonBlob(plan);
  await db.query({
    text: 'insert into plans (digest, plan) values ($1, $2) on conflict do nothing',
    values: [digest, text],
  });
  await db.query({
    text: `update runs set plan_digest = $2, fail_fast = $3, on_exceed = $4, engine_ids = $5 where run_id = $1`,
    values: [
      plan.runId,
      digest,
      plan.spec.execution.failFast,
      plan.spec.budgets.onExceed,
      [...new Set(engines.map((engine) => engine.engineId))],
    ],
  });
}

async function saveSetups(db: Db, setups: PreparedRun['setups']): Promise<void> {
  await db.query({
    text: `insert into plans (digest, plan) select * from unnest($1::text[], $2::text[]) on conflict do nothing`,
    values: [[...setups.keys()], [...setups.values()]],
  });
}

async function saveRequests(db: Db, { runId, requests }: RunPlan): Promise<void> {
  await db.query({
    text: `insert into requests
        (run_id, request_index, name, suite_key, k, strategy, light, failure, prepared_at)
      select $1, r.index, r.name, r.suite_key, r.k, r.strategy, r.light, r.failure,
        case when r.prepared then clock_timestamp() end
      from unnest($2::int[], $3::text[], $4::text[], $5::int[], $6::text[], $7::boolean[], $8::text[], $9::boolean[])
        as r(index, name, suite_key, k, strategy, light, failure, prepared)`,
    values: [
      runId,
      requests.map((request) => request.index),
      requests.map((request) => escapeText(request.spec.name)),
      requests.map((request) => escapeText(request.spec.suiteKey)),
      requests.map((request) => request.spec.attempts.k),
      requests.map((request) => request.spec.attempts.strategy),
      requests.map((request) => request.light),
      requests.map((request) => escapeNullable(request.failure)),
      requests.map((request) => request.unprepared !== true),
    ],
  });
}

type StoredCase = {
  readonly testCase: string;
  readonly target: string | null;
  readonly digest: string;
  readonly source: SuiteCase;
};

/** Cases as JSON, in parts of about eight megabytes, so that a large suite never lies twice in memory. */
function* splitCases(cases: readonly SuiteCase[]): Generator<{ start: number; cases: StoredCase[] }> {
  let part: StoredCase[] = [];
  let bytes = 0;
  for (const [index, source] of cases.entries()) {
    const testCase = JSON.stringify(source.testCase);
    const target = source.target === null ? null : JSON.stringify(source.target);
    part.push({ testCase, target, digest: toJsonBlob([source.testCase, source.target]).digest, source });
    bytes += testCase.length + (target?.length ?? 0);
    if (bytes < CASE_BYTES_AT_ONCE) continue;
    yield { start: index + 1 - part.length, cases: part };
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield { start: cases.length - part.length, cases: part };
}

async function saveCases(
  db: Db,
  part: {
    readonly runId: string;
    readonly suiteKey: string;
    readonly start: number;
    readonly cases: readonly StoredCase[];
  },
): Promise<void> {
  const { cases } = part;
  await db.query({
    text: `insert into cases (run_id, suite_key, case_id, position, digest, weight, cluster, tags, test_case, target)
      select $1, $2, c.id, $3::int + c.position, c.digest, c.weight, c.cluster, c.tags, c.test_case, c.target
      from unnest($4::text[], $5::text[], $6::float8[], $7::text[], $8::text[], $9::text[], $10::text[])
        with ordinality as c(id, digest, weight, cluster, tags, test_case, target, position)`,
    values: [
      part.runId,
      escapeText(part.suiteKey),
      part.start,
      cases.map(({ source }) => escapeText(source.testCase.id)),
      cases.map(({ digest }) => digest),
      cases.map(({ source }) => source.testCase.weight),
      cases.map(({ source }) => escapeNullable(source.testCase.cluster)),
      cases.map(({ source }) => JSON.stringify(source.testCase.tags)),
      cases.map(({ testCase }) => testCase),
      cases.map(({ target }) => target),
    ],
  });
}

async function saveTasks(db: Db, runId: string, tasks: readonly PreparedTask[]): Promise<void> {
  await db.query({
    text: `insert into tasks (run_id, task, request_index, model_id, case_id, setup_digest, content_digest,
        grading_digest, gradable)
      select $1, * from unnest($2::int[], $3::int[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
        $9::boolean[])`,
    values: [
      runId,
      tasks.map(({ task }) => task),
      tasks.map(({ requestIndex }) => requestIndex),
      tasks.map(({ modelId }) => escapeText(modelId)),
      tasks.map(({ caseId }) => escapeText(caseId)),
      tasks.map(({ prints }) => prints.setupDigest),
      tasks.map(({ prints }) => prints.contentDigest),
      tasks.map(({ prints }) => prints.gradingDigest),
      tasks.map(({ prints }) => prints.gradable),
    ],
  });
}

/** The planned set: one row for each cell, without an outcome unless it is known already. */
async function saveCells(db: Db, { runId, skippedModels, requests }: RunPlan): Promise<void> {
  await db.query({
    text: `insert into attempts
        (run_id, task, attempt, generation, outcome, reason_code, detail, settled, recorded_at)
      select t.run_id, t.task, k.attempt, 1, e.outcome, e.code, e.detail, e.outcome is not null,
        case when e.outcome is not null then now() end
      from tasks t
      join requests r on r.run_id = t.run_id and r.request_index = t.request_index
      left join unnest($2::text[], $3::text[]) as skip(model_id, detail) on skip.model_id = t.model_id
      left join unnest($4::int[], $5::text[]) as fail(request_index, detail) on fail.request_index = t.request_index
      cross join lateral (select
        case when skip.detail is not null then 'skipped' when fail.detail is not null then 'not_run' end as outcome,
        case when skip.detail is not null then 'preflight' when fail.detail is not null then 'preparation' end as code,
        coalesce(skip.detail, fail.detail) as detail) e
      cross join lateral generate_series(1, r.k) as k(attempt)
      where t.run_id = $1`,
    values: [
      runId,
      skippedModels.map(({ modelId }) => escapeText(modelId)),
      skippedModels.map(({ reason }) => toEnd('skipped', 'preflight', reason)),
      requests.filter(({ failure }) => failure !== null).map(({ index }) => index),
      requests
        .filter(({ failure }) => failure !== null)
        .map(({ failure }) => toEnd('not_run', 'preparation', failure)),
    ],
  });
}

const toEnd = (kind: 'skipped' | 'not_run', code: string, message: string | null): string =>
  JSON.stringify({
    kind,
    reason: { code, phase: 'prepare', message: message ?? '' },
    limit: null,
  } satisfies Outcome);
