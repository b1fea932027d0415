import type { Outcome } from '../../src/domain/outcome.ts';
import type { ReportCell, ReportRows } from '../../src/domain/report-rows.ts';
import type { Score } from '../../src/domain/score.ts';
import {
  buildCell,
  buildModel,
  buildRequest,
  buildRun,
  buildUnsent,
  ended,
  scored,
  usage,
} from './support.ts';

export const CASES = 12;
const K = 2;

/** Where a cell stands: the case counts from 0, the attempt from 1. */
type Place = { readonly index: number; readonly attempt: number };

type Entry = {
  readonly modelId: string;
  readonly outcomeAt: (place: Place) => Outcome | null;
  readonly costUsd?: number | null;
  /** Of the first case; each further one takes 10 ms more. */
  readonly latencyMs?: number;
  readonly changes?: Partial<ReportCell>;
};

const cutOff = (outcome: Outcome): Outcome => ({
  ...outcome,
  limit: { kind: 'output', limit: 16, measured: 16 },
});

const BUDGET = ended(
  'not_run',
  'budget',
  'model stopped is at its cap of 0.50 USD: resume with a larger budget',
);
const GHOST = 'environment variable GHOST_API_KEY is not set';
const SKIPPED: Outcome = {
  kind: 'skipped',
  reason: { code: 'preflight', phase: 'prepare', message: GHOST },
  limit: null,
};
const ONE_WRONG = ({ index }: Place): Outcome => (index === 3 ? scored(0) : scored(1));

/** Two tied models, one with holes, one that is cut and errs, an unpriced, a disqualified, a stopped and a skipped one. */
const ENTRIES: readonly Entry[] = [
  { modelId: 'openai:gpt-5-mini', outcomeAt: ONE_WRONG, costUsd: 0.002, latencyMs: 1_240 },
  {
    modelId: 'anthropic:claude-with-a-very-long-name-2025-10-01',
    outcomeAt: ({ index, attempt }) => {
      if (index === 5) return ended('unscored', 'scorer_failed', 'scorer tests: report file is missing');
      if (index === 6 && attempt === 2) return null;
      return index < 2 ? scored(0.5) : scored(1);
    },
    costUsd: 0.012,
    latencyMs: 2_400,
  },
  { modelId: 'twin', outcomeAt: ONE_WRONG, costUsd: 0.001, latencyMs: 700 },
  {
    modelId: 'weak',
    outcomeAt: ({ index, attempt }) => {
      if (index === 0) return ended('error', 'bad_request', '400 max_tokens must be at least 1');
      return index > 9 && attempt === 1 ? scored(1) : cutOff(scored(0));
    },
    costUsd: 0.0004,
    latencyMs: 300,
    changes: { usage: usage(100, 16, 16), answerPreview: '' },
  },
  {
    modelId: 'local:qwen',
    outcomeAt: ({ index }) => {
      if (index < 2)
        return ended('infra', 'connection', 'connection refused at 127.0.0.1:8080: is the server up?');
      return index % 2 === 0 ? scored(1) : scored(0.25);
    },
    costUsd: null,
    latencyMs: 4_000,
    changes: {
      priced: false,
      waitMs: 61_000,
      retriedCalls: 1,
      wastedUsage: usage(100, 0),
      usage: usage(200, 20),
    },
  },
  {
    modelId: 'brittle',
    outcomeAt: ({ index }) =>
      index < 3 ? ended('error', 'harness_crashed', 'exit code 1 after 3 steps') : scored(1),
    costUsd: 0.003,
    latencyMs: 900,
  },
  {
    modelId: 'stopped',
    outcomeAt: ({ index }) => (index < 3 ? scored(1) : BUDGET),
    costUsd: 0.08,
    latencyMs: 1_000,
  },
  { modelId: 'ghost', outcomeAt: () => SKIPPED },
];

/** The suite: `ticket-1` to `ticket-12`, the first four about refunds. */
export const CROWDED_CASES = Array.from({ length: CASES }, (_, index) => ({
  caseId: `ticket-${index + 1}`,
  tags: [index < 4 ? 'refund' : 'howto'],
}));

/** A run with everything at once: ties, missing cells, unscored, infra, unpriced, disqualified, skipped, stopped by a budget. */
export function buildCrowdedRun(): ReportRows {
  const models = ENTRIES.map(({ modelId }) =>
    buildModel(modelId, {
      ...(modelId === 'local:qwen' ? { price: null } : {}),
      ...(modelId === 'ghost' ? { skippedReason: GHOST } : {}),
    }),
  );
  const nothing = { minCoverage: null, minPassRate: null, minMean: null, maxUnscoredRate: null };
  return {
    run: buildRun({
      state: 'stopped_budget',
      reason: 'the run cap of 2 USD was reached',
      caps: { maxRunUsd: 2, maxModelUsd: 0.5, maxRunTokens: null },
      gates: { ...nothing, minCoverage: 0.95, requireModels: true },
      ranking: {
        weights: {},
        constraints: { minAccuracy: null, maxErrorRate: 0.2, maxCostUsd: null, maxLatencyP95Ms: null },
      },
    }),
    models,
    requests: [
      buildRequest(
        models.map((model) => model.modelId),
        { caseCount: CASES, attempts: { k: K, strategy: 'avg' }, harness: 'agent', environment: 'host' },
      ),
    ],
    cells: ENTRIES.flatMap(buildEntryCells),
  };
}

const buildEntryCells = (entry: Entry, place: number): readonly ReportCell[] =>
  CROWDED_CASES.flatMap(({ caseId, tags }, index) =>
    [1, 2].map((attempt) => {
      const outcome = entry.outcomeAt({ index, attempt });
      const task = place * CASES + index + 1;
      return toCell(entry, { modelId: entry.modelId, caseId, tags, task, attempt, outcome, index });
    }),
  );

type CellFacts = Pick<ReportCell, 'modelId' | 'caseId' | 'tags' | 'task' | 'attempt' | 'outcome'> &
  Pick<Place, 'index'>;

/** What a cell of this outcome leaves behind: an answer, failed requests, or nothing. */
function toCell(
  { costUsd = null, latencyMs = 0, changes }: Entry,
  { index, ...facts }: CellFacts,
): ReportCell {
  const { outcome } = facts;
  if (outcome === null || outcome.kind === 'not_run' || outcome.kind === 'skipped') return buildUnsent(facts);
  const failed = outcome.kind === 'error' || outcome.kind === 'infra';
  const retriedCalls = outcome.kind === 'infra' ? 2 : 0;
  if (failed) return { ...buildUnsent(facts), retriedCalls, waitMs: outcome.kind === 'infra' ? 1_400 : 0 };
  const answer = outcome.kind === 'scored' ? toAnswer(outcome) : {};
  return buildCell({ ...facts, costUsd, latencyMs: latencyMs + 10 * index, ...answer, ...changes });
}

function toAnswer(
  outcome: Extract<Outcome, { kind: 'scored' }>,
): Pick<ReportCell, 'scores' | 'answerPreview'> {
  const answer = outcome.pass ? '42' : outcome.score === 0 ? '41' : '42, more or less';
  const explanation = outcome.pass ? 'equal to "42"' : `expected "42", got "${answer}"`;
  const verdict = {
    kind: 'scored',
    value: outcome.score,
    pass: outcome.pass,
    explanation,
    metrics: {},
  } as const;
  const score: Score = { scorer: 'exact', kind: 'exact', weight: 1, required: true, verdict };
  return { scores: [score], answerPreview: answer };
}
