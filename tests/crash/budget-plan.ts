import { drawFrom } from '../../src/domain/stable-hash.ts';
import { BILLED, INPUT_TOKENS, OUTPUT_TOKENS } from './fates.ts';
import { toCaseId } from './run-documents.ts';
import type { Part } from './kills.ts';

/** Calls at once. */
export const WIDE = 64;
/** USD per million tokens, input and output alike, so that tokens are money. */
const USD_PER_MILLION = 100;

/** A little more than the bytes that are sent with a case: a token each is the bound of its input. */
const INPUT_BYTES = 60;
/** What a call reserves, at the most. */
export const WORST_TOKENS = INPUT_BYTES + OUTPUT_TOKENS;

export const toUsd = (tokens: number): number => (tokens * USD_PER_MILLION) / 1_000_000;

/** A run with a cap and the kills that hit it. */
export type BudgetPlan = {
  readonly seed: number;
  readonly cells: number;
  readonly capUsd: number;
  /** Whether the cap is below what the cells cost, or surely not. */
  readonly isTight: boolean;
  /** Each part dies after so many requests since the one before came back, and then some milliseconds. */
  readonly kills: readonly {
    readonly part: Part;
    readonly afterRequests: number;
    readonly delayMs: number;
  }[];
};

/**
 * Odd seeds: a cap that the cells would pass, connections that are cut after the model has worked, and two kills, one of
 * them of the worker. Even seeds: a cap that they cannot pass, however many calls the one kill of the worker cuts off,
 * but too small for the worst case of all calls at once: only reserves could stop the run.
 */
export function planBudget(seed: number): BudgetPlan {
  const draw = (what: string): number => drawFrom(`budget/${what}`, seed);
  const isTight = seed % 2 === 1;
  // More than 4 x 64, so that the cells are packed and 64 calls are soon in flight.
  const cells = isTight ? 500 : 300;
  const expected = cells * (INPUT_TOKENS + OUTPUT_TOKENS / 2);
  const most = cells * (INPUT_TOKENS + OUTPUT_TOKENS) + WIDE * WORST_TOKENS;
  const other: Part = draw('other') < 0.5 ? 'postgres' : 'temporal';
  const parts: Part[] = draw('first') < 0.5 ? ['worker', other] : [other, 'worker'];
  return {
    seed,
    cells,
    capUsd: toUsd(isTight ? (0.65 + 0.2 * draw('cap')) * expected : most),
    isTight,
    kills: (isTight ? parts : ['worker' as const]).map((part, index) => ({
      part,
      afterRequests: WIDE + Math.floor(draw(`after ${index}`) * 40),
      delayMs: Math.floor(draw(`delay ${index}`) * 200),
    })),
  };
}

/** Cases of one billed model, as many calls at once as there can be. */
export const toBudgetDocument = ({ cells, capUsd, isTight, seed }: BudgetPlan, baseUrl: string): unknown => ({
  name: `budget-${seed}`,
  models: [
    {
      id: 'billed',
      provider: 'local',
      model: isTight ? BILLED.cut : BILLED.heard,
      price: { input: USD_PER_MILLION, output: USD_PER_MILLION },
      params: { maxOutputTokens: OUTPUT_TOKENS },
    },
  ],
  providers: [
    {
      id: 'local',
      kind: 'openai-compatible',
      baseUrl,
      limits: { concurrency: WIDE },
      retry: { max: isTight ? 2 : 10, base: '10ms' },
    },
  ],
  suite: {
    name: 'cells',
    scorers: ['exact'],
    cases: Array.from({ length: cells }, (_, index) => ({
      id: toCaseId(index),
      input: `Name this case: [${toCaseId(index)}]`,
      target: toCaseId(index),
    })),
  },
  execution: { taskConcurrency: WIDE, seed },
  budgets: { maxRunUsd: capUsd, maxModelUsd: capUsd },
});
