import { recordAttempts, type AttemptRecord, type RecordAnswer } from '../../src/store/attempts.ts';
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import type { AttemptKey, CallKey } from '../../src/domain/ids.ts';
import type { RequestPlan, RunPlan } from '../../src/domain/plan.ts';
import type { Budgets, ModelSpec, RunSpec } from '../../src/domain/run.ts';
import type { Suite, SuiteCase } from '../../src/domain/suite.ts';
import type { EngineSpec } from '../../src/store/engines.ts';
import { migrate } from '../../src/store/migrate.ts';
import { createPool } from '../../src/store/pool.ts';
import type { PreparedRun } from '../../src/store/prepared-run.ts';
import { savePreparedRun } from '../../src/store/prepared-run.ts';
import { insertRun } from '../../src/store/runs.ts';

export const ENGINE = 'mock-engine';

/** A database of its own for one test file, with the whole schema unless `empty`. */
export async function openTestStore({ empty = false } = {}): Promise<{
  pool: pg.Pool;
  databaseUrl: string;
  close: () => Promise<void>;
}> {
  const serverUrl = process.env['ASSAY_TEST_DATABASE_URL'] ?? inject('databaseUrl');
  const name = `store_${randomBytes(6).toString('hex')}`;
  await runOnce(serverUrl, `create database ${name}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  const pool = createPool(url.href, { maxConnections: 16 });
  if (!empty) await migrate(pool);
  const close = async () => {
    await pool.end();
    await runOnce(serverUrl, `drop database if exists ${name} with (force)`);
  };
  return { pool, databaseUrl: url.href, close };
}

async function runOnce(databaseUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query(statement);
  await client.end();
}

export type RunShape = {
  readonly cases?: number;
  readonly models?: readonly string[];
  readonly k?: number;
  readonly strategy?: 'avg' | 'pass';
  readonly failFast?: boolean;
  readonly budgets?: Partial<Budgets>;
  readonly skipped?: readonly string[];
  readonly failure?: string;
  /** Nobody has found out yet whether the engine is alive. */
  readonly unknownHealth?: boolean;
};

/** A run of one request as `prepare` hands it to the store. */
export function buildPreparedRun(runId: string, shape: RunShape = {}): PreparedRun {
  const models = shape.models ?? ['fast'];
  const cases = Array.from({ length: shape.cases ?? 2 }, (_, index) => buildCase(`case-${index + 1}`));
  const suite: Suite = { name: 'questions', version: '1', scorers: [], cases };
  const tasks = cases.flatMap(({ testCase }, index) =>
    models.map((modelId, place) => ({
      task: index * models.length + place + 1,
      requestIndex: 0,
      modelId,
      caseId: testCase.id,
      prints: {
        setupDigest: `setup of ${modelId}`,
        contentDigest: testCase.id,
        gradingDigest: 'grading',
        gradable: true,
      },
    })),
  );
  return {
    plan: buildPlan(runId, { ...shape, models }, cases.length),
    suites: new Map([['questions', suite]]),
    tasks,
    setups: new Map(models.map((modelId) => [`setup of ${modelId}`, JSON.stringify({ modelId })])),
    engines: [mockEngine(ENGINE)],
  };
}

/** An engine without an address; limits as given. */
export const mockEngine = (
  engineId: string,
  limits: Partial<Pick<EngineSpec, 'concurrency' | 'requestsPerMinute' | 'tokensPerMinute'>> = {},
): EngineSpec => ({
  engineId,
  kind: 'mock',
  baseUrl: null,
  apiKeyEnv: null,
  concurrency: 'auto',
  requestsPerMinute: null,
  tokensPerMinute: null,
  ...limits,
});

/** Inserts and prepares a run. */
export async function prepareRun(pool: pg.Pool, runId: string, shape: RunShape = {}): Promise<PreparedRun> {
  const prepared = buildPreparedRun(runId, shape);
  await insertRun(pool, { runId, name: runId, documentDigest: null, workflowId: `run/${runId}` });
  await savePreparedRun(pool, prepared);
  if (shape.unknownHealth !== true)
    await pool.query('update engine_health set alive_at = now() where engine_id = $1', [ENGINE]);
  return prepared;
}

export const attemptKey = (runId: string, task: number, [attempt, generation] = [1, 1]): AttemptKey => ({
  runId,
  task,
  attempt: attempt ?? 1,
  generation: generation ?? 1,
});

export const callKey = (key: AttemptKey, { tryNumber = 1, step = 1, purpose = 'agent' } = {}): CallKey => ({
  ...key,
  tryNumber,
  step,
  purpose,
});

const buildCase = (id: string): SuiteCase => ({
  testCase: {
    id,
    input: { kind: 'text', text: `Question ${id}?` },
    system: null,
    choices: null,
    tags: ['tag'],
    weight: 1,
    cluster: null,
    files: {},
    setup: null,
    scorers: null,
    limits: null,
    metadata: {},
  },
  target: { values: [`secret of ${id}`] },
});

const buildModel = (id: string): ModelSpec => ({
  id,
  providerId: 'mock',
  model: 'oracle',
  params: {},
  price: null,
});

function buildPlan(
  runId: string,
  shape: RunShape & { models: readonly string[] },
  caseCount: number,
): RunPlan {
  const request: RequestPlan = {
    index: 0,
    spec: {
      name: 'main',
      suiteKey: 'questions',
      modelIds: shape.models,
      harness: { kind: 'direct' },
      environment: { kind: 'none' },
      evaluation: 'reuse',
      attempts: { k: shape.k ?? 1, strategy: shape.strategy ?? 'avg' },
      retries: { max: 0, patterns: null },
      limits: { attemptTimeMs: null, attemptTokens: null, attemptCostUsd: null, modelCallTimeMs: null },
      order: 'case',
    },
    suiteName: 'questions',
    suiteVersion: '1',
    suiteDigest: 'd'.repeat(64),
    caseCount,
    light: true,
    scorers: [],
    sessionScorers: false,
    failure: shape.failure ?? null,
  };
  return {
    format: 1,
    runId,
    spec: buildSpec(shape, request),
    requests: [request],
    skippedModels: (shape.skipped ?? []).map((modelId) => ({ modelId, reason: `${modelId} has no key` })),
    estimate: {
      cells: 0,
      modelCalls: 0,
      inputTokens: 0,
      outputTokens: 0,
      costUsd: null,
      unpricedModels: [],
      models: [],
    },
  };
}

const buildSpec = (shape: RunShape & { models: readonly string[] }, request: RequestPlan): RunSpec => ({
  name: 'test run',
  models: shape.models.map(buildModel),
  providers: [],
  requests: [request.spec],
  execution: {
    taskConcurrency: 32,
    timeoutMs: null,
    cleanupGraceMs: 30_000,
    failFast: shape.failFast ?? false,
    seed: 7,
    packing: 'auto',
  },
  budgets: {
    maxRunUsd: null,
    maxModelUsd: null,
    maxRunTokens: null,
    confirmAboveUsd: null,
    approvalExpiryMs: 86_400_000,
    onExceed: 'stop',
    allowUnpriced: false,
    ...shape.budgets,
  },
  gates: { minCoverage: null, minPassRate: null, minMean: null, maxUnscoredRate: null, requireModels: false },
  context: {},
});

/** Records one cell. Rejects as the store does. */
export async function recordOne(db: pg.Pool, record: AttemptRecord): Promise<RecordAnswer> {
  const [answer] = await recordAttempts(db, record.key.runId, [record]);
  if (answer === undefined) throw new Error('no answer');
  return answer;
}
