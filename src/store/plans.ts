import type { Outcome, OutcomeKind, Reason } from '../domain/outcome.ts';
import type { RunPlan, TaskRef } from '../domain/plan.ts';
import type { Budgets } from '../domain/run.ts';
import type { Target, TestCase } from '../domain/suite.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { withFindings, type RequestFindings } from './requests.ts';
import { escapeText, unescapeText } from './text.ts';

/** The form of plans that this program writes and reads. */
const PLAN_FORMAT = 1;

/**
 * The recorded plan of a run, with what was found out about its requests since. Throws when the run is unknown, not
 * prepared yet, or recorded in another form.
 */
export async function loadPlan(db: Db, runId: string): Promise<RunPlan> {
  const [row] = await selectRows<{ plan: string; requests: readonly RequestFindings[] }>(db, {
    name: 'load-plan',
    text: `select p.plan, (select json_agg(json_build_object('image', q.image, 'failure', q.failure,
          'prepared', q.prepared_at is not null) order by q.request_index)
        from requests q where q.run_id = r.run_id) as requests
      from runs r join plans p on p.digest = r.plan_digest where r.run_id = $1`,
    values: [runId],
  });
  if (row === undefined) throw new Error(`Run ${runId} has no plan in the store.`);
  const plan = JSON.parse(row.plan) as RunPlan;
  const { format } = plan as { readonly format: number };
  if (format === PLAN_FORMAT) return withFindings(plan, row.requests);
  throw new Error(
    `Run ${runId} was recorded in format ${format} of its plan; this program reads format ${PLAN_FORMAT}: use the version of Assay that started it.`,
  );
}

/** A case as agents may see it, and apart from it the hidden answer, for scorers (and scripted models) only. */
export type StoredCase = { readonly testCase: TestCase; readonly target: Target | null };

/** Cases of one request by id. Throws when one of them is not in the run. */
export async function loadCases(
  db: Db,
  wanted: { readonly runId: string; readonly requestIndex: number; readonly caseIds: readonly string[] },
): Promise<ReadonlyMap<string, StoredCase>> {
  const rows = await selectRows<{ case_id: string; test_case: string; target: string | null }>(db, {
    name: 'load-cases',
    text: `select c.case_id, c.test_case, c.target from requests r
      join cases c on c.run_id = r.run_id and c.suite_key = r.suite_key
      where r.run_id = $1 and r.request_index = $2 and c.case_id = any($3::text[])`,
    values: [wanted.runId, wanted.requestIndex, wanted.caseIds.map(escapeText)],
  });
  const found = new Map(
    rows.map((row) => [
      unescapeText(row.case_id),
      {
        testCase: JSON.parse(row.test_case) as TestCase,
        target: row.target === null ? null : (JSON.parse(row.target) as Target),
      },
    ]),
  );
  const missing = wanted.caseIds.find((caseId) => !found.has(caseId));
  if (missing === undefined) return found;
  throw new Error(`Run ${wanted.runId} has no case ${missing} in request ${wanted.requestIndex}.`);
}

/** Tasks of a generation with cells that are planned and not recorded, after `afterTask`, in task order. */
export async function listTaskRefs(
  db: Db,
  page: {
    readonly runId: string;
    readonly generation: number;
    readonly afterTask: number;
    readonly limit: number;
  },
): Promise<TaskRef[]> {
  const rows = await selectRows<StoredTask>(db, {
    name: 'list-tasks',
    text: `select t.task, t.request_index, t.model_id, t.case_id, open.attempts, open.graded
      from (
        select a.task, array_agg(a.attempt order by a.attempt) as attempts,
          array_agg(a.attempt order by a.attempt) filter (where a.origin_run is not null) as graded
        from attempts a
        where a.run_id = $1 and a.task > $3 and a.generation = $2 and a.planned and a.outcome is null
        group by a.task order by a.task limit $4
      ) open join tasks t on t.run_id = $1 and t.task = open.task
      order by t.task`,
    values: [page.runId, page.generation, page.afterTask, page.limit],
  });
  return rows.map((row) => ({
    task: row.task,
    requestIndex: row.request_index,
    modelId: unescapeText(row.model_id),
    caseId: unescapeText(row.case_id),
    attempts: row.attempts,
    ...(row.graded === null ? {} : { graded: row.graded }),
  }));
}

export type GenerationRequest = {
  readonly runId: string;
  /** Names this resume or retry: the same token again opens nothing more. */
  readonly token: string;
  /** Cells whose latest outcome is among these run again, as do cells that were never recorded. */
  readonly outcomes: readonly OutcomeKind[];
  /** Models that are skipped again: their skipped cells stay as they are. */
  readonly skippedModels?: readonly string[];
  /** Requests whose attempts are one step each: of a cell that was cut off before its grade the answer is kept. */
  readonly oneStepRequests?: readonly number[];
  /** Caps to change; a key that is absent leaves its cap. */
  readonly budgets?: Partial<Pick<Budgets, 'maxRunUsd' | 'maxModelUsd' | 'maxRunTokens'>>;
};

/**
 * Opens the next generation of a run that has ended: exactly the chosen cells, caps as given, nothing frozen.
 * With no cell to run nothing changes. Throws when the run has not ended.
 */
export async function planGeneration(
  db: Db,
  request: GenerationRequest,
): Promise<{ readonly generation: number; readonly cells: number }> {
  const reason: Reason = {
    code: 'unrecorded',
    phase: 'record',
    message: 'No result was recorded for this cell; it runs again in the next generation.',
  };
  return selectRow(db, {
    text: 'select generation, cells from plan_generation($1, $2, $3, $4, $5, $6, $7, $8)',
    values: [
      request.runId,
      request.token,
      request.outcomes,
      JSON.stringify(request.budgets ?? {}),
      JSON.stringify({ kind: 'interrupted', reason, limit: null } satisfies Outcome),
      JSON.stringify({ kind: 'not_run', reason, limit: null } satisfies Outcome),
      (request.skippedModels ?? []).map(escapeText),
      request.oneStepRequests ?? [],
    ],
  });
}

type StoredTask = {
  readonly task: number;
  readonly request_index: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly attempts: readonly number[];
  readonly graded: readonly number[] | null;
};
