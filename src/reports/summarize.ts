import { judgeGates } from '../domain/gates.ts';
import type { ReportCell, ReportModel, ReportRequest, ReportRows } from '../domain/report-rows.ts';
import { rankModels, type Ranking } from '../statistics/ranking.ts';
import { listFailures } from './failures.ts';
import { toCost, toFigures, toMeanValues } from './figures.ts';
import { toBoardNotes } from './notes.ts';
import type { Board, BoardRow, Note, Report } from './report-schema.ts';
import { toNextCommand, toStatement } from './statement.ts';

export type { Report } from './report-schema.ts';

/** The report of a run from its rows: pure, and the same for a live run and a stored one. */
export function summarize(rows: ReportRows): Report {
  const { run, cells } = rows;
  const recorded = cells.filter((cell) => cell.outcome !== null).length;
  const scored = cells.filter((cell) => cell.outcome?.kind === 'scored').length;
  const progress = { planned: cells.length, recorded, scored };
  const byRequest = Map.groupBy(cells, (cell) => cell.requestIndex);
  const boards = rows.requests.map((request) =>
    toBoard({ request, models: rows.models, cells: byRequest.get(request.index) ?? [] }),
  );
  const { failures, failureCount } = listFailures(cells);
  const { caps: _caps, gates, warnings: _warnings, ...facts } = run;
  return {
    format: 'assay-report',
    version: 1,
    run: {
      ...facts,
      ...progress,
      complete: run.state === 'completed' && scored === cells.length && scored > 0,
    },
    statement: toStatement(rows, progress),
    next: toNextCommand(rows, failures),
    totals: toCost(cells),
    boards,
    failures,
    failureCount,
    gateFailures: [
      ...judgeGates(
        boards.flatMap((board) => toGated(board, rows.models)),
        gates,
      ),
    ],
    notes: toRunNotes(rows),
  };
}

type BoardInput = {
  readonly request: ReportRequest;
  readonly models: readonly ReportModel[];
  readonly cells: readonly ReportCell[];
};

function toBoard({ request, models, cells }: BoardInput): Board {
  const byModel = Map.groupBy(cells, (cell) => cell.modelId);
  const taking = models.filter((model) => request.modelIds.includes(model.modelId));
  const ranking = rankModels(
    taking.map(({ modelId }) => ({
      modelId,
      values: toMeanValues(byModel.get(modelId) ?? [], request.attempts),
    })),
  );
  const rows = taking.map((model) =>
    toRow({ model, request, ranking, cells: byModel.get(model.modelId) ?? [] }),
  );
  const { sharedCases, alpha } = ranking;
  const sorted = sortRows(rows, ranking);
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
    rows: sorted,
    notes: toBoardNotes({ request, rows: sorted, ranking }),
  };
}

type RowInput = {
  readonly model: ReportModel;
  readonly request: ReportRequest;
  readonly ranking: Ranking;
  readonly cells: readonly ReportCell[];
};

function toRow({ model, request, ranking, cells }: RowInput): BoardRow {
  const place = ranking.ranked.find((ranked) => ranked.modelId === model.modelId);
  const figures = toFigures(cells, request.attempts);
  const hasData = figures.mean !== null;
  return {
    modelId: model.modelId,
    model: model.model,
    providerId: model.providerId,
    status: place !== undefined ? 'ranked' : hasData ? 'unranked' : 'no_data',
    noDataReason: hasData ? null : explainNoData({ model, request, cells }),
    rank: place?.rank ?? null,
    band: place?.band ?? null,
    sharedMean: place?.sharedMean ?? null,
    figures,
  };
}

function explainNoData({ model, request, cells }: Omit<RowInput, 'ranking'>): string {
  if (model.skippedReason !== null) return model.skippedReason;
  if (request.failure !== null) return request.failure;
  return cells.length === 0 ? 'nothing was planned' : `0 of ${cells.length} cells have a score that counts`;
}

/** Best first, then models too partial to rank, then those without data; in the order of the run file within each. */
function sortRows(rows: readonly BoardRow[], ranking: Ranking): BoardRow[] {
  const order = ranking.ranked.map((ranked) => ranked.modelId);
  const placeOf = (row: BoardRow): number => {
    if (row.status === 'ranked') return order.indexOf(row.modelId);
    return row.status === 'unranked' ? order.length : order.length + 1;
  };
  return rows.toSorted((a, b) => placeOf(a) - placeOf(b));
}

const toGated = (board: Board, models: readonly ReportModel[]) =>
  board.rows.map(({ modelId, figures }) => ({
    requestName: board.requestName,
    modelId,
    planned: figures.coverage.planned,
    scored: figures.outcomes.scored,
    unscored: figures.outcomes.unscored,
    passRate: figures.passRate?.value ?? null,
    mean: figures.mean?.value ?? null,
    skippedReason: models.find((model) => model.modelId === modelId)?.skippedReason ?? null,
  }));

function toRunNotes({ run, models }: ReportRows): Note[] {
  const skipped = models.flatMap(({ modelId, skippedReason }) =>
    skippedReason === null
      ? []
      : [{ code: 'skipped', requestName: null, modelId, text: `${modelId} was skipped: ${skippedReason}` }],
  );
  const warnings = run.warnings.map((text) => ({ code: 'warning', requestName: null, modelId: null, text }));
  const again = `generation ${run.generation}: cells that were run again count with their latest result`;
  const generation =
    run.generation > 1 ? [{ code: 'generation', requestName: null, modelId: null, text: again }] : [];
  return [...skipped, ...warnings, ...generation];
}
