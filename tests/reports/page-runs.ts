import type { ReportCell, ReportRows } from '../../src/domain/report-rows.ts';
import type { FailureDetail } from '../../src/reports/html-failures.ts';
import type { Report } from '../../src/reports/report-schema.ts';
import { drawFrom } from '../../src/domain/stable-hash.ts';
import { buildCell, buildModel, buildRequest, buildRun, buildUnsent, ended, scored } from './support.ts';

type Competitor = {
  readonly modelId: string;
  /** Share of attempts that pass. */
  readonly skill: number;
  readonly costUsd: number;
  readonly latencyMs: number;
};

const COMPETITORS: readonly Competitor[] = [
  { modelId: 'large', skill: 0.9, costUsd: 0.021, latencyMs: 6_200 },
  { modelId: 'medium', skill: 0.8, costUsd: 0.004, latencyMs: 2_900 },
  { modelId: 'small', skill: 0.55, costUsd: 0.0006, latencyMs: 900 },
  { modelId: 'hosted-elsewhere', skill: 0.75, costUsd: 0.009, latencyMs: 3_800 },
];

/** 20 cases, four models, three attempts: what a person looks at first. */
export const buildSmallRun = (): ReportRows => buildRunOf(COMPETITORS, { cases: 20, k: 3 });

/** 1,000 cases, 20 models: 20,000 cells. */
export const buildLargeRun = (): ReportRows =>
  buildRunOf(
    Array.from({ length: 20 }, (_, index) => ({
      modelId: `model-${index + 1}`,
      skill: 0.95 - 0.04 * index,
      costUsd: 0.02 / 1.4 ** index,
      latencyMs: 900 + 300 * index,
    })),
    { cases: 1_000, k: 1 },
  );

function buildRunOf(
  competitors: readonly Competitor[],
  { cases, k }: { readonly cases: number; readonly k: number },
): ReportRows {
  const cells = competitors.flatMap((one, place) =>
    Array.from({ length: cases * k }, (_, index) =>
      buildOne(one, {
        task: place * cases + Math.floor(index / k) + 1,
        caseId: `case-${Math.floor(index / k) + 1}`,
        attempt: (index % k) + 1,
      }),
    ),
  );
  return {
    run: buildRun({ name: 'support questions' }),
    models: competitors.map(({ modelId }) => buildModel(modelId)),
    requests: [
      buildRequest(
        competitors.map(({ modelId }) => modelId),
        { name: 'questions', suiteName: 'support', caseCount: cases, attempts: { k, strategy: 'avg' } },
      ),
    ],
    cells: cells.map((cell) => ({ ...cell, requestName: 'questions' })),
  };
}

function buildOne(
  { modelId, skill, costUsd, latencyMs }: Competitor,
  place: Pick<ReportCell, 'task' | 'caseId' | 'attempt'>,
): ReportCell {
  const draw = (what: string): number => drawFrom(`${what}/${modelId}/${place.caseId}/${place.attempt}`);
  // Some cases are hard for everybody.
  const ease = 0.6 + 0.6 * drawFrom(`ease/${place.caseId}`);
  const isRefused = draw('infra') < 0.01;
  const pass = draw('pass') < skill * ease;
  const explanation = pass ? 'found "refund"' : 'did not find "refund"';
  const verdict = { kind: 'scored', value: Number(pass), pass, explanation, metrics: {} } as const;
  if (isRefused)
    return {
      ...buildUnsent({ ...place, modelId }),
      outcome: ended('infra', 'connection', 'connection reset by the endpoint'),
      waitMs: 0,
    };
  return buildCell({
    ...place,
    modelId,
    outcome: scored(Number(pass)),
    scores: [{ scorer: 'includes', kind: 'includes', weight: 1, required: true, verdict }],
    costUsd: costUsd * (0.8 + 0.4 * draw('cost')),
    latencyMs: latencyMs * (0.6 + draw('latency') ** 2),
    answerPreview: pass ? 'Yes, a refund is due.' : 'I cannot help with that.',
  });
}

/** What was asked and said in the first cell of each of the first fifty failures. */
export const buildDetails = ({ failures }: Report): readonly FailureDetail[] =>
  failures.slice(0, 50).flatMap(({ requestName, modelId, examples, answerPreview }) => {
    const [example] = examples;
    if (example === undefined) return [];
    const { caseId, attempt } = example;
    return [
      {
        requestName,
        modelId,
        caseId,
        attempt,
        input: 'My order came broken. What now?',
        expected: 'refund',
        transcript:
          answerPreview === null
            ? []
            : [
                {
                  role: 'assistant' as const,
                  text: '',
                  reasoning: null,
                  toolCalls: [
                    {
                      id: '1',
                      name: 'lookup_order',
                      arguments: { kind: 'parsed' as const, value: { order: 7 } },
                    },
                  ],
                },
                {
                  role: 'tool' as const,
                  toolCallId: '1',
                  toolName: 'lookup_order',
                  text: 'delivered on Monday',
                  status: 'success' as const,
                },
                { role: 'assistant' as const, text: answerPreview, reasoning: null, toolCalls: [] },
              ],
      },
    ];
  });
