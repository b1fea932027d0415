import type { ReportRequest } from '../domain/report-rows.ts';
import { countCasesNeeded } from '../statistics/cases-needed.ts';
import { MIN_CLUSTERS } from '../statistics/paired.ts';
import type { Figures } from './figure-schema.ts';
import { toCostText, toDurationText } from './figure-text.ts';
import type { BoardRanking } from './rank-board.ts';
import type { BoardRow, Note } from './report-schema.ts';

export type BoardFacts = {
  readonly request: ReportRequest;
  readonly rows: readonly BoardRow[];
  readonly ranking: BoardRanking;
};

/** What a reader must know before believing the board: about the request, then about each model. */
export function toBoardNotes(facts: BoardFacts): Note[] {
  const { request, rows, ranking } = facts;
  const texts = [
    toNote('request_failed', request.failure && `the request ended in preparation: ${request.failure}`),
    toNote('shared_cases', explainShared(facts)),
    ...rows.flatMap((row) => toNote('weights', explainWeights(row, rows[0]), row.modelId)),
    toNote('margin', explainMargin(facts)),
    toNote('shared_rank', explainSharedRank(facts)),
    toNote('case_means', explainCaseMeans(facts)),
    toNote('single_survivor', explainSurvivor(facts)),
    toNote('front', explainFront(facts)),
    toNote(
      'host_no_isolation',
      request.environment === 'host' &&
        'host: no isolation. Agents and graders ran on the worker’s machine with its files in reach',
    ),
    ...rows.flatMap((row) => toModelNotes(row, ranking)),
  ];
  return texts.flatMap((note) => (note === null ? [] : [{ ...note, requestName: request.name }]));
}

const toNote = (code: string, text: string | false | null, modelId: string | null = null): Note | null =>
  text === null || text === false ? null : { code, requestName: null, modelId, text };

function explainShared({ rows, ranking }: BoardFacts): string | null {
  const ranked = rows.filter((row) => row.status === 'ranked');
  const most = Math.max(0, ...ranked.map((row) => row.figures.mean?.cases ?? 0));
  if (ranked.length < 2 || ranking.sharedCases === most) return null;
  return `ranks compare the ${count(ranking.sharedCases, 'case')} that all ${ranked.length} ranked models have, of up to ${most}`;
}

/** What a shared rank says, where the means of one band lie apart. */
function explainSharedRank({ rows, ranking }: BoardFacts): string | null {
  const bands = Map.groupBy(
    rows.filter((row) => row.status === 'ranked'),
    ({ band }) => band,
  );
  const isWide = [...bands.values()].some((own) => new Set(own.map(({ sharedMean }) => sharedMean)).size > 1);
  if (!isWide) return null;
  return `models that share a rank cannot be told apart from the first of them, case by case on what all have (each comparison at the ${toPercentLevel(ranking.alpha)} level): their order says nothing`;
}

const toPercentLevel = (alpha: number): string => `${Number((alpha * 100).toPrecision(2))}%`;

/** Whoever divides the counts gets another share: says why. */
function explainCaseMeans({ rows }: BoardFacts): string | null {
  const differs = rows.some(
    ({ figures: { passRate } }) =>
      passRate !== null && Math.abs(passRate.value - passRate.passes / passRate.attempts) >= 0.005,
  );
  return differs
    ? 'shares and means are averaged over cases, each case by its own attempts and weight; beside them stand counts of attempts'
    : null;
}

/** What the weighted sum of a model is made of; the rule stands with the first. */
function explainWeights({ modelId, composite }: BoardRow, first: BoardRow | undefined): string | null {
  if (composite === null) return null;
  const parts = composite.parts.map(
    ({ metric, share, normalised }) => `${toShareText(share)} × ${metric} ${normalised.toFixed(2)}`,
  );
  const rule = ' (accuracy as it is, of the others the best value / its own)';
  return `${modelId}: weighted sum ${composite.value.toFixed(3)} = ${parts.join(' + ')}${modelId === first?.modelId ? rule : ''}`;
}

const toShareText = (share: number): string => String(Number(share.toFixed(2)));

/** A ranking of one, because constraints left no other. */
function explainSurvivor({ rows, ranking }: BoardFacts): string | null {
  const ranked = rows.filter((row) => row.status === 'ranked');
  if (ranked.length !== 1 || ranking.disqualified.size === 0) return null;
  return `${ranked[0]?.modelId} is the only model that keeps the constraints: it was compared with no other`;
}

/** Of two models that have a price and a rank. */
function explainFront({ rows }: BoardFacts): string | null {
  const known = rows.filter((row) => row.status === 'ranked' && row.attemptCostUsd !== null);
  if (known.length < 2 || known.every((row) => row.attemptCostUsd === 0)) return null;
  const front = known.filter((row) => row.onFront);
  const named = front.map(
    ({ modelId, sharedMean, attemptCostUsd }) =>
      `${modelId} (${(sharedMean ?? 0).toFixed(2)}, ${toCostText(attemptCostUsd)})`,
  );
  const rest = known.length - front.length;
  const beaten =
    rest === 0
      ? ''
      : `; ${rest === 1 ? '1 other is' : `${rest} others are`} no better than one of these and no cheaper`;
  return `no model is as good and as cheap as (mean, cost of an attempt): ${named.join(', ')}${beaten}`;
}

const SMALL_MARGIN = 0.02;

function explainWeightedMargin({ rows, ranking }: BoardFacts): string | null {
  const [first, second] = rows;
  if (ranking.isTopSeparated !== false || first?.composite == null || second?.composite == null) return null;
  const margin = first.composite.value - second.composite.value;
  const small = margin < SMALL_MARGIN ? ', a small margin: other weights may turn it' : '';
  return `${first.modelId} and ${second.modelId} cannot be separated under these weights on ${count(ranking.sharedCases, 'shared case')} (margin ${margin.toFixed(3)}${small})`;
}

/** Why the first two share a band, and what would settle it. */
function explainMargin(facts: BoardFacts): string | null {
  const { rows, ranking } = facts;
  const [first, second] = rows;
  const { topTwo, alpha } = ranking;
  if (ranking.isTopSeparated !== null) return explainWeightedMargin(facts);
  if (topTwo === null || topTwo.isSeparated || first === undefined || second === undefined) return null;
  const pair = `${first.modelId} and ${second.modelId} cannot be separated on ${count(topTwo.cases, 'shared case')}`;
  const tally = `${topTwo.wins} better, ${topTwo.losses} worse, ${topTwo.ties} equal`;
  if (topTwo.difference === 0) return `${pair} (${tally}): their means are equal`;
  const margin = `margin ${Math.abs(topTwo.difference ?? 0).toFixed(3)}, ${tally}`;
  const needed = countCasesNeeded(topTwo, alpha);
  if (needed !== null) return `${pair} (${margin}): about ${needed} cases would settle a margin of this size`;
  const few = topTwo.clusters < MIN_CLUSTERS;
  return `${pair} (${margin}): ${few ? `at least ${MIN_CLUSTERS} independent cases are needed` : 'no sensible number of cases would settle it'}`;
}

function toModelNotes(row: BoardRow, ranking: BoardRanking): readonly (Note | null)[] {
  const { modelId, figures } = row;
  const note = (code: string, text: string | false | null): Note | null =>
    toNote(code, text && `${modelId}: ${text}`, modelId);
  if (row.figures.outcomes.skipped > 0 && row.status === 'no_data') return [];
  const { outcomes, coverage } = figures;
  return [
    note('coverage', !coverage.complete && coverage.planned > 0 && explainCoverage(figures)),
    note(
      'unranked',
      row.status === 'unranked' &&
        (ranking.unweighed.get(modelId) ??
          `too few cases to be ranked (${count(figures.mean?.cases ?? 0, 'case')})`),
    ),
    note('disqualified', row.disqualified.length > 0 && `disqualified: ${row.disqualified.join('; ')}`),
    note('weight', figures.mean === null && outcomes.scored > 0 && 'every scored case has weight 0: no mean'),
    note('output_cut', figures.limits.output > 0 && explainCut(figures)),
    note('flaky', explainFlaky(figures)),
    note('limits', explainLimits(figures)),
    note(
      'unpriced',
      figures.unpricedCells > 0 &&
        `cost unknown: ${count(figures.unpricedCells, 'cell')} with calls of unknown price or usage`,
    ),
    note(
      'waits',
      figures.waitMs >= 60_000 &&
        `waited ${toDurationText(figures.waitMs)} in all for slots, rates and retries, not part of the latency`,
    ),
    note('wasted', explainWaste(figures)),
  ];
}

/** Scored N of M, then every outcome that is missing from the mean, by name. */
function explainCoverage({ coverage, outcomes }: Figures): string {
  const missing = [
    [outcomes.error, 'error'],
    [outcomes.unscored, 'unscored'],
    [outcomes.infra, 'infra'],
    [outcomes.interrupted, 'interrupted'],
    [outcomes.refused, 'refused'],
    [outcomes.not_run, 'not run'],
    [outcomes.skipped, 'skipped'],
    [outcomes.unrecorded, 'not recorded'],
  ] as const;
  const named = missing.flatMap(([number, word]) => (number > 0 ? [`${number} ${word}`] : []));
  const kind = coverage.scored === 0 ? 'no figure' : 'figures are partial';
  return `${coverage.scored} of ${coverage.planned} cells scored, ${kind}: ${named.join(', ')}`;
}

function explainCut(figures: Figures): string {
  const { limits, cutByReasoning, coverage } = figures;
  const answers = `${limits.output} of ${coverage.scored} answers were cut at the output limit`;
  if (cutByReasoning === 0) return `${answers}: raise maxOutputTokens`;
  return `${answers}, in ${cutByReasoning} of them reasoning used all of it: raise maxOutputTokens`;
}

function explainFlaky({ flaky }: Figures): string | null {
  if (flaky.cases === 0) return null;
  const named = flaky.caseIds.slice(0, 3).join(', ');
  const more = flaky.cases > 3 ? ` and ${flaky.cases - 3} more` : '';
  return `${flaky.cases} of ${count(flaky.ofCases, 'case')} passed in some attempts and not in others: ${named}${more}`;
}

function explainLimits({ limits }: Figures): string | null {
  const kinds = ['steps', 'time', 'tokens', 'cost', 'context'] as const;
  const hit = kinds.flatMap((kind) => (limits[kind] > 0 ? [`${kind} ${limits[kind]}`] : []));
  return hit.length === 0 ? null : `ended early by a limit and graded: ${hit.join(', ')}`;
}

function explainWaste({ wastedUsage, retriedCalls }: Figures): string | null {
  const tokens = (wastedUsage.inputTokens ?? 0) + (wastedUsage.outputTokens ?? 0);
  if (tokens === 0 && retriedCalls === 0) return null;
  return [
    retriedCalls === 0 ? '' : `${count(retriedCalls, 'request')} sent again`,
    tokens === 0 ? '' : `${count(tokens, 'token')} bought no recorded answer`,
  ]
    .filter((part) => part !== '')
    .join('; ');
}

const count = (number: number, word: string): string => `${number} ${word}${number === 1 ? '' : 's'}`;
