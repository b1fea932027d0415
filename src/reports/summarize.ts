import { judgeGates } from '../domain/gates.ts';
import type { JsonObject } from '../domain/json.ts';
import { NO_CONSTRAINTS, type RankingRule } from '../domain/ranking-rule.ts';
import type { ReportModel, ReportRows } from '../domain/report-rows.ts';
import { describeMismatch, describeReuse, type Reuse } from '../domain/reuse.ts';
import { toBoard } from './board.ts';
import { listFailures } from './failures.ts';
import { toJudgeNotes } from './judge-notes.ts';
import { toCost, toJudging } from './figures.ts';
import type { Board, Note, Report } from './report-schema.ts';
import { toNextCommand, toStatement } from './statement.ts';

export type { Report } from './report-schema.ts';

export type SummarizeOptions = {
  /** What if the ranking weighed this; the run's own weights unless given. Constraints stay. */
  readonly weights?: RankingRule['weights'];
};

/** The report of a run from its rows: pure, and the same for a live run, a stored one, and what-if weights. */
export function summarize(rows: ReportRows, { weights }: SummarizeOptions = {}): Report {
  const { run, cells } = rows;
  const recorded = cells.filter((cell) => cell.outcome !== null).length;
  const scored = cells.filter((cell) => cell.outcome?.kind === 'scored').length;
  const progress = { planned: cells.length, recorded, scored };
  const byRequest = Map.groupBy(cells, (cell) => cell.requestIndex);
  const declared = run.ranking ?? { weights: {}, constraints: NO_CONSTRAINTS };
  const rule = { ...declared, weights: weights ?? declared.weights };
  const boards = rows.requests.map((request) =>
    toBoard({
      request,
      models: rows.models,
      cells: byRequest.get(request.index) ?? [],
      rule,
      seed: run.seed,
    }),
  );
  const { failures, failureCount } = listFailures(cells);
  const { caps: _caps, gates, ranking: _ranking, warnings: _warnings, judges: _judges, ...facts } = run;
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
    totals: { ...toCost(cells), ...toJudging(cells) },
    boards,
    failures,
    failureCount,
    gateFailures: [
      ...judgeGates(
        boards.flatMap((board) => toGated(board, rows.models)),
        gates,
      ),
    ],
    notes: [...toRunNotes(rows), ...toJudgeNotes(rows)],
  };
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
  const reused = run.reuse === null ? [] : toReuseNotes(run.reuse);
  const generation =
    run.generation > 1 ? [{ code: 'generation', requestName: null, modelId: null, text: again }] : [];
  const context =
    run.context === undefined
      ? []
      : [{ code: 'context', requestName: null, modelId: null, text: `context ${showContext(run.context)}` }];
  const graded = run.scoreVersion > 1 ? [toGradedNote(run)] : [];
  return [...skipped, ...reused, ...warnings, ...graded, ...generation, ...context];
}

const toGradedNote = ({ scoreVersion, scoredBy }: ReportRows['run']): Note => {
  const by = scoredBy === null ? '' : `, by ${scoredBy.join(', ')} instead of the scorers of the run file`;
  const text = `score version ${scoreVersion}: the recorded answers were graded again${by}; nothing was run for it`;
  return { code: 'score_version', requestName: null, modelId: null, text };
};

/** A mismatch that was allowed comes first: the figures are of answers made in two ways. */
function toReuseNotes(reuse: Reuse): readonly Note[] {
  const texts = [
    { code: 'mismatch', text: describeMismatch(reuse) },
    { code: 'reuse', text: describeReuse(reuse) },
  ];
  return texts.flatMap(({ code, text }) =>
    text === null ? [] : [{ code, requestName: null, modelId: null, text }],
  );
}

const showContext = (context: JsonObject): string => {
  const text = JSON.stringify(context);
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
};
