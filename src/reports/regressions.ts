import { adjustHolm } from '../statistics/holm.ts';
import { comparePaired, toPairs } from '../statistics/paired.ts';
import { toPText } from './comparison-words.ts';
import { toMeanValues } from './figures.ts';
import type { Paired, SidePair } from './pair-sides.ts';

/** How much worse than its baseline a run may be. */
export type Tolerance = {
  /** Points of the mean, 0..1, that may be lost. */
  readonly tolerance: number;
  /** How sure a larger loss must be before it counts, above 0.5 and below 1. */
  readonly confidence: number;
};

export type BaselineFailure = {
  readonly gate: 'baseline';
  readonly requestName: string;
  readonly modelId: string;
  /** The tolerance, as a change. */
  readonly limit: number;
  /** The change of the mean; null = there was nothing to compare. */
  readonly measured: number | null;
  readonly message: string;
};

/**
 * Pairs of baseline and run in which the mean fell by more than the tolerance, surely enough: the one-sided p-value of
 * "it fell by no more" is below 1 - confidence, after Holm's adjustment over all pairs. A fall that chance explains does
 * not fail; a pair without a shared case does, for nothing was checked. Pure.
 */
export function findRegressions({ pairs }: Paired, allowed: Tolerance): readonly BaselineFailure[] {
  if (pairs.length === 0) {
    const message = 'no model stands in both runs: nothing was held against the baseline';
    const nowhere = { requestName: '', modelId: '', limit: -allowed.tolerance, measured: null };
    return [{ gate: 'baseline', ...nowhere, message }];
  }
  const tested = pairs.map((pair) => ({ pair, ...testLoss(pair, allowed.tolerance) }));
  const adjusted = adjustHolm(tested.map(({ p }) => p ?? 1));
  return tested.flatMap(({ pair, change }, index) => {
    const failure = (measured: number | null, message: string): BaselineFailure[] => {
      const { request, modelId } = pair.second;
      const text = `${request.name} / ${modelId}: ${message}`;
      return [
        {
          gate: 'baseline',
          requestName: request.name,
          modelId,
          limit: -allowed.tolerance,
          measured,
          message: text,
        },
      ];
    };
    if (change === null)
      return failure(
        null,
        `no case has a score in both runs, so it cannot be held against ${pair.first.runId}`,
      );
    const p = adjusted[index] ?? 1;
    if (p >= 1 - allowed.confidence) return [];
    return failure(change, explain({ pair, change, p, ...allowed }));
  });
}

type Tested = { readonly change: number | null; readonly p: number | null };

/** One-sided: the run is moved up by the tolerance first, so that what is tested is a loss beyond it. */
function testLoss({ first, second }: SidePair, tolerance: number): Tested {
  const [before, after] = [first, second].map((side) => toMeanValues(side.cells, side.request.attempts));
  const shared = toPairs(after ?? [], before ?? []).map(({ own }) => own);
  const settings = { alpha: 0.05, seed: second.seed };
  const found = comparePaired(shared, before ?? [], settings);
  const moved = shared.map((item) => ({ ...item, value: item.value + tolerance }));
  const test = tolerance === 0 ? found : comparePaired(moved, before ?? [], settings);
  if (test.p === null || test.difference === null) return { change: null, p: null };
  return { change: found.difference, p: test.difference < 0 ? test.p / 2 : 1 };
}

function explain(facts: {
  readonly pair: SidePair;
  readonly change: number;
  readonly p: number;
  readonly tolerance: number;
  readonly confidence: number;
}): string {
  const { pair, change, p, tolerance, confidence } = facts;
  const limit = tolerance === 0 ? 'no loss is allowed' : `a loss of ${toPoints(tolerance)} is allowed`;
  const sure = `one-sided ${toPText(p)}, confidence ${confidence}`;
  return `the mean fell by ${toPoints(-change)} against ${pair.first.runId}; ${limit} (${sure})`;
}

const toPoints = (value: number): string => String(Number(value.toPrecision(3)));
