import type pg from 'pg';
import type { ReportCell, ReportRows } from '../../src/domain/report-rows.ts';
import type { SuiteCase } from '../../src/domain/suite.ts';
import { savePreparedRun } from '../../src/store/prepared-run.ts';
import { appendSteps } from '../../src/store/steps.ts';
import { insertRun } from '../../src/store/runs.ts';
import { buildPreparedRun, ENGINE, recordOne } from '../store/support.ts';

/** What a run asks, which report rows do not hold. */
export type Asked = {
  readonly cases: readonly { readonly caseId: string; readonly tags: readonly string[] }[];
  readonly target: string;
};

/** Puts a run of one request into the store, so that its report rows come back as given. */
export async function storeRows(pool: pg.Pool, rows: ReportRows, asked: Asked): Promise<void> {
  const { run, cells } = rows;
  await insertRun(pool, {
    runId: run.runId,
    name: run.name,
    documentDigest: null,
    workflowId: `run/${run.runId}`,
  });
  await savePreparedRun(pool, toPreparedRun(rows, asked));
  for (const cell of cells) await storeCell(pool, run.runId, cell);
  await pool.query(
    `update runs set state = $2, frozen_state = $2, frozen_reason = $3, created_at = $4, started_at = $5, finished_at = $6
      where run_id = $1`,
    [run.runId, run.state, run.reason, run.createdAt, run.startedAt, run.finishedAt],
  );
}

function toPreparedRun({ run, models, requests, cells }: ReportRows, asked: Asked) {
  const [request] = requests;
  if (request === undefined) throw new Error('a run of one request');
  const prepared = buildPreparedRun(run.runId, {
    models: request.modelIds,
    cases: asked.cases.length,
    budgets: run.caps,
    k: request.attempts.k,
  });
  const [planned] = prepared.plan.requests;
  const [suite] = prepared.suites.values();
  const [task] = prepared.tasks;
  if (planned === undefined || suite === undefined || task === undefined)
    throw new Error('a run of one request');
  const { spec } = prepared.plan;
  const requestSpec = {
    ...planned.spec,
    name: request.name,
    harness: { ...planned.spec.harness, kind: request.harness },
    environment: { ...planned.spec.environment, kind: request.environment },
  } as typeof planned.spec;
  const { suiteName, suiteVersion, suiteDigest, caseCount, failure } = request;
  return {
    ...prepared,
    plan: {
      ...prepared.plan,
      requests: [{ ...planned, suiteName, suiteVersion, suiteDigest, caseCount, failure, spec: requestSpec }],
      skippedModels: models.flatMap(({ modelId, skippedReason }) =>
        skippedReason === null ? [] : [{ modelId, reason: skippedReason }],
      ),
      spec: {
        ...spec,
        name: run.name,
        models: models.map(({ modelId: id, model, providerId, price }) => ({
          id,
          model,
          providerId,
          price,
          params: {},
        })),
        requests: [requestSpec],
        gates: run.gates,
        ...(run.ranking === undefined ? {} : { ranking: run.ranking }),
      },
    },
    suites: new Map([
      [
        'questions',
        { ...suite, cases: asked.cases.map((one, index) => toCase(suite.cases[index], one, asked)) },
      ],
    ]),
    tasks: [...new Map(cells.map((cell) => [cell.task, cell])).values()].map(
      ({ task: number, modelId, caseId }) => ({
        ...task,
        task: number,
        modelId,
        caseId,
      }),
    ),
  };
}

function toCase(
  built: SuiteCase | undefined,
  { caseId, tags }: Asked['cases'][number],
  { target }: Asked,
): SuiteCase {
  if (built === undefined) throw new Error('too few cases');
  const input = { kind: 'text', text: `What is the answer to ${caseId}?` } as const;
  return { ...built, testCase: { ...built.testCase, id: caseId, tags, input }, target: { values: [target] } };
}

async function storeCell(pool: pg.Pool, runId: string, cell: ReportCell): Promise<void> {
  const key = { runId, task: cell.task, attempt: cell.attempt, generation: cell.generation };
  for (let request = 1; request <= cell.retriedCalls + (cell.waitMs === null ? 0 : 1); request += 1)
    await storeCall(pool, { key, cell, request });
  if (cell.calls > 0) {
    const message = {
      role: 'assistant',
      text: cell.answerPreview ?? '',
      reasoning: null,
      toolCalls: [],
    } as const;
    await appendSteps(pool, { key, tryNumber: 1, steps: [{ sequence: 1, message }] });
  }
  if (cell.outcome === null || cell.outcome.kind === 'skipped') return;
  await recordOne(pool, {
    key,
    tryNumber: cell.waitMs === null ? 0 : 1,
    outcome: cell.outcome,
    scores: cell.scores,
    answerDigest: null,
    answerPreview: cell.answerPreview,
  });
}

type StoredCall = {
  readonly key: { runId: string; task: number; attempt: number; generation: number };
  readonly cell: ReportCell;
  readonly request: number;
};

/** The last request of a cell has the answer; what was wasted went to those before it. */
async function storeCall(pool: pg.Pool, { key, cell, request }: StoredCall): Promise<void> {
  const isLast = request === cell.retriedCalls + 1;
  const answered = isLast && cell.calls > 0;
  const wasted = cell.wastedUsage;
  const rest = (name: 'inputTokens' | 'outputTokens') =>
    cell.usage[name] === null ? null : (cell.usage[name] ?? 0) - (wasted[name] ?? 0);
  await pool.query(
    `insert into model_calls (run_id, task, attempt, generation, try_number, purpose, step, request_number, model_id,
        engine_id, state, worst_tokens, reserved, input_tokens, output_tokens, reasoning_tokens, cost_usd, latency_ms,
        waited_ms, finished_at)
      values ($1, $2, $3, $4, 1, 'agent', 1, $5, $6, $7, $8, 9, false, $9, $10, $11, $12, $13, $14, now())`,
    [
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      request,
      cell.modelId,
      ENGINE,
      answered ? 'completed' : 'failed',
      answered ? rest('inputTokens') : wasted.inputTokens,
      answered ? rest('outputTokens') : wasted.outputTokens,
      answered ? cell.usage.reasoningTokens : null,
      answered ? cell.costUsd : null,
      answered ? cell.latencyMs : null,
      isLast ? cell.waitMs : 0,
    ],
  );
}
