import type { RankingRule } from '../domain/ranking-rule.ts';
import type { ReportCell, ReportModel, ReportRequest } from '../domain/report-rows.ts';
import { toAttemptCost } from './attempt-costs.ts';
import { toFigures, toMeanValues } from './figures.ts';
import { toBoardNotes } from './notes.ts';
import { findFront } from './pareto.ts';
import { type BoardRanking, type Entrant, rankBoard } from './rank-board.ts';
import type { Board, BoardRow } from './report-schema.ts';
import { toTagFigures } from './tag-figures.ts';

export type BoardInput = {
  readonly request: ReportRequest;
  readonly models: readonly ReportModel[];
  readonly cells: readonly ReportCell[];
  readonly rule: RankingRule;
  readonly seed: number;
};

/** One leaderboard: aggregate, gate, normalise, weigh, rank, note. */
export function toBoard({ request, models, cells, rule, seed }: BoardInput): Board {
  const byModel = Map.groupBy(cells, (cell) => cell.modelId);
  const taking = models.filter((model) => request.modelIds.includes(model.modelId));
  const entrants = taking.map(({ modelId }): Entrant => {
    const own = byModel.get(modelId) ?? [];
    const { attempts } = request;
    return { modelId, cells: own, values: toMeanValues(own, attempts), figures: toFigures(own, attempts) };
  });
  const ranking = rankBoard(entrants, { rule, seed });
  const rows = taking.flatMap((model, index) => {
    const entrant = entrants[index];
    return entrant === undefined ? [] : [toRow({ model, request, ranking, entrant })];
  });
  const sorted = sortRows(markFront(rows), ranking);
  const { sharedCases, alpha } = ranking;
  return {
    requestName: request.name,
    suiteName: request.suiteName,
    suiteVersion: request.suiteVersion,
    suiteDigest: request.suiteDigest,
    cases: request.caseCount,
    harness: request.harness,
    environment: request.environment,
    attempts: { ...request.attempts },
    failure: request.failure,
    planned: cells.length,
    recorded: cells.filter((cell) => cell.outcome !== null).length,
    sharedCases,
    alpha,
    weights: { ...rule.weights },
    rows: sorted,
    notes: toBoardNotes({ request, rows: sorted, ranking }),
  };
}

type RowInput = {
  readonly model: ReportModel;
  readonly request: ReportRequest;
  readonly ranking: BoardRanking;
  readonly entrant: Entrant;
};

function toRow({ model, request, ranking, entrant }: RowInput): BoardRow {
  const { modelId } = model;
  const { figures, cells } = entrant;
  const place = ranking.ranked.find((ranked) => ranked.modelId === modelId);
  const disqualified = ranking.disqualified.get(modelId) ?? [];
  const hasData = figures.mean !== null;
  const unplaced = disqualified.length > 0 ? 'disqualified' : hasData ? 'unranked' : 'no_data';
  return {
    modelId,
    model: model.model,
    providerId: model.providerId,
    status: place === undefined ? unplaced : 'ranked',
    noDataReason: hasData ? null : explainNoData({ model, request, cells }),
    disqualified: [...disqualified],
    rank: place?.rank ?? null,
    band: place?.band ?? null,
    sharedMean: place?.sharedMean ?? null,
    composite: place?.composite ? { value: place.composite.value, parts: [...place.composite.parts] } : null,
    attemptCostUsd: toAttemptCost(place === undefined ? cells : keepShared(cells, ranking)),
    onFront: false,
    tags: toTagFigures(cells, request.attempts),
    figures,
  };
}

function keepShared(cells: readonly ReportCell[], { sharedCaseIds }: BoardRanking): readonly ReportCell[] {
  const ids = new Set(sharedCaseIds);
  return cells.filter(({ caseId }) => ids.has(caseId));
}

function explainNoData(facts: {
  readonly model: ReportModel;
  readonly request: ReportRequest;
  readonly cells: readonly ReportCell[];
}): string {
  const { model, request, cells } = facts;
  if (model.skippedReason !== null) return model.skippedReason;
  if (request.failure !== null) return request.failure;
  return cells.length === 0 ? 'nothing was planned' : `0 of ${cells.length} cells have a score that counts`;
}

/** Of the ranked models: the others have too little to be set against them. */
function markFront(rows: readonly BoardRow[]): readonly BoardRow[] {
  const front = findFront(
    rows.flatMap(({ modelId, sharedMean, attemptCostUsd: costUsd }) =>
      sharedMean === null ? [] : [{ modelId, mean: sharedMean, costUsd }],
    ),
  );
  return rows.map((row) => ({ ...row, onFront: front.has(row.modelId) }));
}

const UNPLACED = ['unranked', 'disqualified', 'no_data'] as const;

/** Best first, then models that cannot be ranked; in the order of the run file within each. */
function sortRows(rows: readonly BoardRow[], ranking: BoardRanking): BoardRow[] {
  const order = ranking.ranked.map((ranked) => ranked.modelId);
  const placeOf = ({ status, modelId }: BoardRow): number =>
    status === 'ranked' ? order.indexOf(modelId) : order.length + UNPLACED.indexOf(status);
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}
