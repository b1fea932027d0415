import type { Outcome } from '../../src/domain/outcome.ts';
import type { ReportRows } from '../../src/domain/report-rows.ts';
import type { Score } from '../../src/domain/score.ts';
import { UNKNOWN_USAGE } from '../../src/domain/usage.ts';
import { buildCells, buildModel, buildRequest, buildRun, ended, scored, usage } from './support.ts';

const CASES = 12;
const K = 2;

type AttemptAt = { readonly index: number; readonly attempt: number };

const plan = (outcomeAt: (place: AttemptAt) => Outcome | null) =>
  Object.fromEntries(
    Array.from({ length: CASES }, (_, index) => [
      `ticket-${index + 1}`,
      Array.from({ length: K }, (_unused, attempt) => outcomeAt({ index, attempt: attempt + 1 })),
    ]),
  );

const limitOutput = (outcome: Outcome): Outcome => ({
  ...outcome,
  limit: { kind: 'output', limit: 16, measured: 16 },
});

const wrongScore: Score = {
  scorer: 'exact',
  kind: 'exact',
  weight: 1,
  required: true,
  verdict: { kind: 'scored', value: 0, pass: false, explanation: 'expected "42", got "41"', metrics: {} },
};

const BUDGET = ended(
  'not_run',
  'budget',
  'model stopped is at its cap of 0.50 USD: resume with a larger budget',
);

/** A run with everything at once: ties, missing cells, unscored, infra, unpriced, skipped, stopped by a budget. */
export function buildCrowdedRun(): ReportRows {
  const models = [
    buildModel('openai:gpt-5-mini'),
    buildModel('anthropic:claude-with-a-very-long-name-2025-10-01'),
    buildModel('weak'),
    buildModel('local:qwen', { price: null }),
    buildModel('stopped'),
    buildModel('ghost', { skippedReason: 'environment variable GHOST_API_KEY is not set' }),
  ];
  const at = (modelId: string, outcomeAt: (place: AttemptAt) => Outcome | null, changes = {}) =>
    buildCells({ modelId, outcomes: plan(outcomeAt) }, changes);
  const cells = [
    ...at('openai:gpt-5-mini', ({ index }) => (index === 3 ? scored(0) : scored(1)), {
      scores: [wrongScore],
      latencyMs: 1240,
    }),
    ...at('anthropic:claude-with-a-very-long-name-2025-10-01', ({ index, attempt }) => {
      if (index === 5) return ended('unscored', 'scorer_failed', 'scorer tests: report file is missing');
      if (index === 6 && attempt === 2) return null;
      return index < 2 ? scored(0.5) : scored(1);
    }),
    ...at(
      'weak',
      ({ index, attempt }) => {
        if (index === 0) return ended('error', 'bad_request', '400 max_tokens must be at least 1');
        return index > 9 && attempt === 1 ? scored(1) : limitOutput(scored(0));
      },
      { usage: usage(100, 16, 16), answerPreview: '' },
    ),
    ...at(
      'local:qwen',
      ({ index }) => {
        if (index < 2)
          return ended('infra', 'connection', 'connection refused at 127.0.0.1:8080: is the server up?');
        return index % 2 === 0 ? scored(1) : scored(0.25);
      },
      { costUsd: null, priced: false, waitMs: 61_000, retriedCalls: 1, wastedUsage: usage(100, 0) },
    ),
    ...at('stopped', ({ index }) => (index < 3 ? scored(1) : BUDGET)),
    ...at('ghost', () => ended('skipped', 'credential', 'environment variable GHOST_API_KEY is not set')),
  ];
  return {
    run: buildRun({
      state: 'stopped_budget',
      reason: 'the run cap of 2 USD was reached',
      caps: { maxRunUsd: 2, maxModelUsd: 0.5, maxRunTokens: null },
      gates: {
        minCoverage: 0.95,
        minPassRate: null,
        minMean: null,
        maxUnscoredRate: null,
        requireModels: true,
      },
    }),
    models,
    requests: [
      buildRequest(
        models.map((model) => model.modelId),
        {
          caseCount: CASES,
          attempts: { k: K, strategy: 'avg' },
          harness: 'agent',
          environment: 'host',
        },
      ),
    ],
    cells: cells.map((cell) => (cell.modelId === 'ghost' ? { ...cell, usage: UNKNOWN_USAGE } : cell)),
  };
}
