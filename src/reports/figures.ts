import { OUTCOME_KINDS } from '../domain/outcome.ts';
import type { ReportCell } from '../domain/report-rows.ts';
import { addUsage, UNKNOWN_USAGE } from '../domain/usage.ts';
import { type AttemptValue, type CaseValue, sum, toCaseValues } from '../statistics/case-values.ts';
import { toMeanInterval, toWilsonInterval } from '../statistics/intervals.ts';
import { countEffective, estimateMean } from '../statistics/mean.ts';
import { estimatePassAtK, estimatePassHatK } from '../statistics/pass-at-k.ts';
import { toPercentile } from '../statistics/percentile.ts';
import { sumAnalyses } from './analysis-figures.ts';
import type { Figures, UsageFigures } from './figure-schema.ts';
import { findFlaky } from './flaky-cases.ts';

export type Attempts = { readonly k: number; readonly strategy: 'avg' | 'pass' };

/** Every figure of one model under one request, from its planned cells. */
export function toFigures(cells: readonly ReportCell[], attempts: Attempts): Figures {
  const values = toMeanValues(cells, attempts);
  const outcomes = countOutcomes(cells);
  const latencies = cells.flatMap((cell) =>
    cell.latencyMs === null || !hasAnswered(cell) ? [] : [cell.latencyMs],
  );
  return {
    mean: toMean(values, cells),
    strictMean: toStrictMean(cells, attempts),
    passRate: toPassRate(cells, attempts),
    ...toPassAt(cells, attempts),
    coverage: {
      scored: outcomes.scored,
      planned: cells.length,
      complete: cells.length > 0 && outcomes.scored === cells.length,
      scoredCases: values.length,
      plannedCases: new Set(cells.map((cell) => cell.caseId)).size,
    },
    outcomes,
    ...toCost(cells),
    latency: toLatency(latencies),
    waitMs: sum(cells.map((cell) => cell.waitMs ?? 0)),
    retriedCalls: sum(cells.map((cell) => cell.retriedCalls)),
    limits: countLimits(cells),
    flaky: findFlaky(cells),
    ...toJudging(cells),
    cutByReasoning: cells.filter(isCutByReasoning).length,
    analyses: sumAnalyses(cells),
  };
}

/** Its agent came to its end: of one that was cut off nobody knows how long it would have taken. */
const hasAnswered = ({ outcome }: ReportCell): boolean =>
  outcome?.kind === 'scored' || outcome?.kind === 'unscored';

/** Case values behind the mean and the rank. */
export const toMeanValues = (cells: readonly ReportCell[], attempts: Attempts): readonly CaseValue[] =>
  toValues(cells, attempts, (cell) => (cell.outcome?.kind === 'scored' ? cell.outcome.score : null));

type ValueOf = (cell: ReportCell) => number | null;

/**
 * Attempts with a value, one value per case. Under strategy `pass` a case counts its best attempt, and only once
 * that is decided: it passed, or every attempt of its plan has a value.
 */
function toValues(cells: readonly ReportCell[], attempts: Attempts, valueOf: ValueOf): readonly CaseValue[] {
  const decided = attempts.strategy === 'pass' ? cells.filter(toDecided(cells, valueOf)) : cells;
  const values = decided.flatMap((cell): AttemptValue[] => {
    const value = valueOf(cell);
    return value === null ? [] : [{ caseId: cell.caseId, cluster: cell.cluster, weight: cell.weight, value }];
  });
  return toCaseValues(values, attempts.strategy === 'pass' ? 'best' : 'mean');
}

function toDecided(cells: readonly ReportCell[], valueOf: ValueOf): (cell: ReportCell) => boolean {
  const isPass = (cell: ReportCell): boolean => cell.outcome?.kind === 'scored' && cell.outcome.pass;
  const passed = new Set(cells.filter(isPass).map((cell) => cell.caseId));
  const open = new Set(cells.filter((cell) => valueOf(cell) === null).map((cell) => cell.caseId));
  return ({ caseId }) => passed.has(caseId) || !open.has(caseId);
}

const countScored = (cells: readonly ReportCell[], cases: readonly CaseValue[]): number => {
  const ids = new Set(cases.filter((item) => item.weight > 0).map((item) => item.caseId));
  return cells.filter((cell) => cell.outcome?.kind === 'scored' && ids.has(cell.caseId)).length;
};

function toMean(values: readonly CaseValue[], cells: readonly ReportCell[]): Figures['mean'] {
  const estimate = estimateMean(values);
  if (estimate === null) return null;
  return { ...estimate, interval: toMeanInterval(estimate), attempts: countScored(cells, values) };
}

/** An `error` is the model's or the agent's fault and counts as 0 here; other outcomes have no number. */
function toStrictMean(cells: readonly ReportCell[], attempts: Attempts): Figures['strictMean'] {
  const values = toValues(cells, attempts, (cell) =>
    cell.outcome?.kind === 'scored' ? cell.outcome.score : cell.outcome?.kind === 'error' ? 0 : null,
  );
  const estimate = estimateMean(values);
  if (estimate === null) return null;
  const used = sum(values.filter((item) => item.weight > 0).map((item) => item.attempts));
  return { value: estimate.value, cases: estimate.cases, attempts: used };
}

function toPassRate(cells: readonly ReportCell[], attempts: Attempts): Figures['passRate'] {
  const values = toValues(cells, attempts, (cell) =>
    cell.outcome?.kind === 'scored' ? Number(cell.outcome.pass) : null,
  );
  const estimate = estimateMean(values);
  if (estimate === null) return null;
  return {
    value: estimate.value,
    interval: toWilsonInterval({ rate: estimate.value, count: countEffective(values) }),
    cases: estimate.cases,
    attempts: countScored(cells, values),
    passes: cells.filter((cell) => cell.outcome?.kind === 'scored' && cell.outcome.pass && cell.weight > 0)
      .length,
  };
}

/** Under strategy `pass` the attempts were stopped by a pass, so only pass@k has a meaning: the share of cases solved. */
function toPassAt(
  cells: readonly ReportCell[],
  attempts: Attempts,
): Pick<Figures, 'passAtK' | 'passHatK' | 'passCurve'> {
  const { k, strategy } = attempts;
  if (k < 2) return { passAtK: null, passHatK: null, passCurve: [] };
  const cases = [...Map.groupBy(cells, (cell) => cell.caseId).values()];
  if (strategy === 'pass') {
    const rate = toPassRate(
      cells.map((cell) => ({ ...cell, weight: 1 })),
      attempts,
    );
    const passAtK = { k, value: rate?.value ?? null, cases: rate?.cases ?? 0, ofCases: cases.length };
    return { passAtK, passHatK: null, passCurve: [] };
  }
  const tallies = cases.map((attemptsOfCase) => {
    const scored = attemptsOfCase.flatMap(({ outcome }) =>
      outcome?.kind === 'scored' ? [outcome.pass] : [],
    );
    return { attempts: scored.length, passes: scored.filter(Boolean).length };
  });
  const passCurve = Array.from({ length: k }, (_, index) => {
    const at = estimatePassAtK(tallies, index + 1);
    const { value: passHatK } = estimatePassHatK(tallies, index + 1);
    return { k: at.k, passAtK: at.value, passHatK, cases: at.cases };
  });
  return { passAtK: estimatePassAtK(tallies, k), passHatK: estimatePassHatK(tallies, k), passCurve };
}

function countOutcomes(cells: readonly ReportCell[]): Figures['outcomes'] {
  const tally = Map.groupBy(cells, (cell) => cell.outcome?.kind ?? 'unrecorded');
  const counts = Object.fromEntries(OUTCOME_KINDS.map((kind) => [kind, tally.get(kind)?.length ?? 0]));
  const passed = cells.filter((cell) => cell.outcome?.kind === 'scored' && cell.outcome.pass).length;
  const scored = counts['scored'] ?? 0;
  const unrecorded = tally.get('unrecorded')?.length ?? 0;
  return { ...(counts as Figures['outcomes']), unrecorded, passed, wrong: scored - passed };
}

/** Cost, tokens and calls; the cost is unknown as soon as one call's is. */
export function toCost(
  cells: readonly ReportCell[],
): Pick<Figures, 'costUsd' | 'knownCostUsd' | 'unpricedCells' | 'usage' | 'wastedUsage' | 'calls'> {
  const unpricedCells = cells.filter((cell) => !cell.priced).length;
  const knownCostUsd = sum(cells.map((cell) => cell.costUsd ?? 0));
  return {
    costUsd: unpricedCells > 0 ? null : knownCostUsd,
    knownCostUsd,
    unpricedCells,
    usage: sumUsage(cells.map((cell) => cell.usage)),
    wastedUsage: sumUsage(cells.map((cell) => cell.wastedUsage)),
    calls: sum(cells.map((cell) => cell.calls)),
  };
}

/** Of those cells whose answer a judge was asked about. */
export function toJudging(cells: readonly ReportCell[]): Pick<Figures, 'judging'> {
  const asked = cells.flatMap(({ judging }) => (judging === undefined ? [] : [judging]));
  if (asked.length === 0) return {};
  const { inputTokens, outputTokens } = sumUsage(asked.map(({ usage }) => usage));
  const costUsd = asked.every(({ priced }) => priced) ? sum(asked.map((one) => one.costUsd ?? 0)) : null;
  return { judging: { calls: sum(asked.map(({ calls }) => calls)), costUsd, inputTokens, outputTokens } };
}

const sumUsage = (usages: readonly UsageFigures[]): UsageFigures =>
  usages.reduce<UsageFigures>((total, usage) => addUsage(total, usage), UNKNOWN_USAGE);

function toLatency(latencies: readonly number[]): Figures['latency'] {
  const p50Ms = toPercentile(latencies, 0.5);
  if (p50Ms === null) return null;
  const at = (share: number): number => toPercentile(latencies, share) ?? p50Ms;
  return { p50Ms, p90Ms: at(0.9), p95Ms: at(0.95), p99Ms: at(0.99), cells: latencies.length };
}

function countLimits(cells: readonly ReportCell[]): Figures['limits'] {
  const limits = { steps: 0, time: 0, tokens: 0, cost: 0, context: 0, output: 0 };
  for (const { outcome } of cells) if (outcome?.limit) limits[outcome.limit.kind] += 1;
  return limits;
}

/** F13: nothing was left for the answer. Judged from one call's usage, so retries do not blur it. */
function isCutByReasoning({ outcome, usage, wastedUsage }: ReportCell): boolean {
  if (outcome?.limit?.kind !== 'output' || usage.reasoningTokens === null || usage.outputTokens === null)
    return false;
  const reasoning = usage.reasoningTokens - (wastedUsage.reasoningTokens ?? 0);
  const output = usage.outputTokens - (wastedUsage.outputTokens ?? 0);
  return output > 0 && reasoning >= output;
}
