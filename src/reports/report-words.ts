import {
  toSpentText,
  toCountText,
  toDurationText,
  toPercentText,
  toScoreText,
  toTokens,
} from './figure-text.ts';
import type { Board, BoardRow, Failure, Report } from './report-schema.ts';
import { shortenMiddle, toPrintable } from './terminal-text.ts';

/** What every form of the report says in the same words. Texts of others are printable, and not escaped. */

/** Form that has all failures: the JSON report lists a thousand groups. */
export const toFullForm = ({ failures, failureCount }: Report): 'csv' | 'json' =>
  failureCount > failures.length ? 'csv' : 'json';

/** Groups of failures that are listed; the rest is counted. */
export const SHOWN_FAILURES = 8;

/** Cost, tokens, calls and time of a run. */
export function listRunFacts({ run, totals }: Report): readonly string[] {
  const tokens = toTokens(totals.usage);
  const elapsed = toElapsed(run);
  return [
    toSpentText(totals),
    ...(tokens === null ? [] : [`${toCountText(tokens)} tokens`]),
    totals.calls === 1 ? '1 model call' : `${toCountText(totals.calls)} model calls`,
    ...(elapsed === null ? [] : [toDurationText(elapsed)]),
  ];
}

function toElapsed(run: Report['run']): number | null {
  if (run.startedAt === null || run.finishedAt === null) return null;
  return Math.max(0, Date.parse(run.finishedAt) - Date.parse(run.startedAt));
}

/** Suite, cases, attempts and place of a board, in one line. */
export function describeBoard(board: Board): string {
  const version = board.suiteVersion === null ? '' : ` ${board.suiteVersion}`;
  const { k, strategy } = board.attempts;
  const attempts = k === 1 ? '' : strategy === 'pass' ? ` × up to ${k} attempts` : ` × ${k} attempts`;
  const place = board.environment === 'none' ? board.harness : `${board.harness} in ${board.environment}`;
  const cases = board.cases === 1 ? '1 case' : `${board.cases} cases`;
  return toPrintable(`${board.suiteName}${version} · ${cases}${attempts} · ${place}`);
}

/** `2=` where others share the rank. */
export function toRankText(row: BoardRow, board: Board): string {
  if (row.rank === null) return '–';
  const isShared = board.rows.filter((other) => other.rank === row.rank).length > 1;
  return `${row.rank}${isShared ? '=' : ''}`;
}

/** Why a model has no rank, in a word or two; null = it has one, or no data, which says why itself. */
export function toStandingText({ status }: BoardRow): string | null {
  switch (status) {
    case 'disqualified':
      return 'disqualified';
    case 'unranked':
      return 'not ranked';
    case 'ranked':
    case 'no_data':
      return null;
  }
}

/** pass@k and pass^k of every model that has them, with the cases that have enough attempts; null = of none. */
export function describeAttempts({ rows, attempts }: Board): string | null {
  const models = rows.flatMap(({ modelId, figures: { passAtK, passHatK } }) => {
    if (passAtK === null || passAtK.value === null) return [];
    const hat = passHatK?.value == null ? '' : ` ${toPercentText(passHatK.value)}`;
    return [`${toPrintable(modelId)} ${toPercentText(passAtK.value)}${hat} n=${passAtK.cases}`];
  });
  if (models.length === 0) return null;
  const names =
    attempts.strategy === 'pass' ? `pass@${attempts.k}` : `pass@${attempts.k} and pass^${attempts.k}`;
  return `${names}: ${models.join(', ')}`;
}

/** Tags that are listed; the JSON report has all. */
const SHOWN_TAGS = 12;

/** The mean of every model for each tag, a line each; none without tags. */
export function describeTags({ rows }: Board): readonly string[] {
  const tags = [...new Set(rows.flatMap((row) => row.tags.map(({ tag }) => tag)))];
  const lines = tags.slice(0, SHOWN_TAGS).flatMap((tag) => {
    const means = rows.flatMap(({ modelId, tags: own }) => {
      const figures = own.find((one) => one.tag === tag);
      if (figures === undefined || figures.mean === null) return [];
      const partial =
        figures.scored < figures.planned ? ` (${figures.scored} of ${figures.planned} cells)` : '';
      return [`${toPrintable(modelId)} ${toScoreText(figures.mean)} n=${figures.cases}${partial}`];
    });
    return means.length === 0 ? [] : [`tag ${toPrintable(tag)}: ${means.join(', ')}`];
  });
  const hidden = tags.length - SHOWN_TAGS;
  return hidden > 0 ? [...lines, `${hidden} more tags: --format json`] : lines;
}

export type FailureWords = {
  readonly outcome: string;
  /** Request and model. */
  readonly where: string;
  /** How many cells; of wrong answers which. */
  readonly cells: string;
  readonly message: string;
  /** Which cells, where `cells` does not say it; null = none to look at. */
  readonly examples: string | null;
};

export function describeFailure(failure: Failure): FailureWords {
  const { outcome, requestName, modelId, cells } = failure;
  const isWrong = outcome === 'wrong';
  return {
    outcome: outcome.replaceAll('_', ' '),
    where: toPrintable([requestName, modelId].filter((name) => name !== null).join(' / ')),
    cells: isWrong ? listExamples(failure) : `${cells} ${cells === 1 ? 'cell' : 'cells'}`,
    message: shorten(toPrintable(failure.message)),
    // A skipped model has no cells to look at, and the head of wrong answers names their case.
    examples: isWrong || outcome === 'skipped' ? null : listExamples(failure),
  };
}

const MESSAGE_LENGTH = 300;

const shorten = (message: string): string =>
  message.length <= MESSAGE_LENGTH ? message : `${message.slice(0, MESSAGE_LENGTH).toWellFormed()}…`;

function listExamples({ examples, cells }: Failure): string {
  const names = examples.map(
    ({ caseId, attempt }) => `${shortenMiddle(toPrintable(caseId), 40)} a${attempt}`,
  );
  const hidden = cells - names.length;
  return `${names.join(', ')}${hidden > 0 ? ` and ${hidden} more` : ''}`;
}
