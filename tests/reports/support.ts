import type { Outcome } from '../../src/domain/outcome.ts';
import type {
  ReportCell,
  ReportModel,
  ReportRequest,
  ReportRows,
  RunFacts,
} from '../../src/domain/report-rows.ts';
import { UNKNOWN_USAGE, type Usage } from '../../src/domain/usage.ts';

export const buildRun = (changes: Partial<RunFacts> = {}): RunFacts => ({
  runId: 'r-7f3k',
  name: 'support-bot',
  state: 'completed',
  reason: null,
  createdAt: '2026-01-05T10:00:00.000Z',
  startedAt: '2026-01-05T10:00:01.000Z',
  finishedAt: '2026-01-05T10:02:06.000Z',
  generation: 1,
  seed: 7,
  caps: { maxRunUsd: null, maxModelUsd: null, maxRunTokens: null },
  gates: {
    minCoverage: null,
    minPassRate: null,
    minMean: null,
    maxUnscoredRate: null,
    requireModels: false,
  },
  scoreVersion: 1,
  scoredBy: null,
  reuse: null,
  warnings: [],
  ...changes,
});

export const buildModel = (modelId: string, changes: Partial<ReportModel> = {}): ReportModel => ({
  modelId,
  model: modelId,
  providerId: 'mock',
  price: { input: 1, output: 2, cacheRead: null, cacheWrite: null },
  skippedReason: null,
  ...changes,
});

export const buildRequest = (
  modelIds: readonly string[],
  changes: Partial<ReportRequest> = {},
): ReportRequest => ({
  index: 0,
  name: 'tickets',
  suiteName: 'tickets',
  suiteVersion: '2',
  suiteDigest: 'd'.repeat(64),
  caseCount: 4,
  modelIds,
  harness: 'direct',
  environment: 'none',
  attempts: { k: 1, strategy: 'avg' },
  failure: null,
  ...changes,
});

export const usage = (
  inputTokens: number,
  outputTokens: number,
  reasoningTokens: number | null = null,
): Usage => ({
  ...UNKNOWN_USAGE,
  inputTokens,
  outputTokens,
  reasoningTokens,
});

export const buildCell = (
  changes: Partial<ReportCell> & { caseId: string; modelId: string },
): ReportCell => ({
  requestIndex: 0,
  requestName: 'tickets',
  task: 1,
  attempt: 1,
  generation: 1,
  outcome: scored(1),
  weight: 1,
  cluster: null,
  tags: [],
  scores: [],
  analyses: [],
  usage: usage(100, 20),
  costUsd: 0.001,
  priced: true,
  latencyMs: 800,
  waitMs: 0,
  calls: 1,
  retriedCalls: 0,
  wastedUsage: UNKNOWN_USAGE,
  origin: null,
  answerPreview: 'an answer',
  ...changes,
});

/** A cell that never started. */
export const buildUnsent = (changes: Parameters<typeof buildCell>[0]): ReportCell =>
  buildCell({
    usage: UNKNOWN_USAGE,
    costUsd: null,
    latencyMs: null,
    waitMs: null,
    calls: 0,
    answerPreview: null,
    ...changes,
  });

export const scored = (score: number, pass = score === 1): Outcome => ({
  kind: 'scored',
  score,
  pass,
  limit: null,
});

export const ended = (
  kind: Exclude<Outcome['kind'], 'scored'>,
  code: string,
  message: string = code,
): Outcome => ({ kind, reason: { code, phase: 'run', message }, limit: null });

export type CellPlan = {
  readonly modelId: string;
  readonly outcomes: { readonly [caseId: string]: (Outcome | null)[] };
};

/** Cells of one model: a list of outcomes by case, one for each attempt. */
export const buildCells = (plan: CellPlan, changes: Partial<ReportCell> = {}): ReportCell[] =>
  Object.entries(plan.outcomes).flatMap(([caseId, outcomes], index) =>
    outcomes.map((outcome, attempt) => {
      const facts = {
        modelId: plan.modelId,
        caseId,
        task: index + 1,
        attempt: attempt + 1,
        outcome,
        ...changes,
      };
      const isSent = outcome !== null && outcome.kind !== 'not_run' && outcome.kind !== 'skipped';
      return isSent ? buildCell(facts) : buildUnsent(facts);
    }),
  );

export type RowsPlan = {
  readonly run?: Partial<RunFacts>;
  readonly models: readonly ReportModel[];
  readonly request?: Partial<ReportRequest>;
  readonly cells: readonly ReportCell[];
};

export const buildRows = ({ run, models, request, cells }: RowsPlan): ReportRows => ({
  run: buildRun(run),
  models,
  requests: [
    buildRequest(
      models.map((model) => model.modelId),
      request,
    ),
  ],
  cells,
});
