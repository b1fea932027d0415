import type { Outcome } from '../domain/outcome.ts';
import type { Budgets } from '../domain/run.ts';
import type { ScorerSpec } from '../domain/suite.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import type { TaskPrints } from './prepared-run.ts';
import { escapeText, unescapeText } from './text.ts';

/** How the answers of a run are graded in a generation. */
export type Grading = {
  /** Of every case; null = those of the suites and cases. */
  readonly scorers: readonly ScorerSpec[] | null;
  /** Which grading it is, from 1. */
  readonly scoreVersion: number;
};

const FIRST: Grading = { scorers: null, scoreVersion: 1 };

export async function loadGrading(
  db: Db,
  { runId, generation }: { readonly runId: string; readonly generation: number },
): Promise<Grading> {
  if (generation === 1) return FIRST;
  const [row] = await selectRows<{ scorers: string | null; version: number }>(db, {
    name: 'load-grading',
    text: `select scorers, score_version(run_id, $2) as version from gradings
      where run_id = $1 and generation <= $2 order by generation desc limit 1`,
    values: [runId, generation],
  });
  if (row === undefined) return FIRST;
  const scorers = row.scorers === null ? null : (JSON.parse(unescapeText(row.scorers)) as ScorerSpec[]);
  return { scorers, scoreVersion: row.version };
}

export type GradingRequest = {
  readonly runId: string;
  /** Names this grading: the same token again opens nothing more. */
  readonly token: string;
  readonly scorers: readonly ScorerSpec[] | null;
  readonly tasks: readonly ({ readonly task: number } & Pick<TaskPrints, 'gradingDigest' | 'gradable'>)[];
  readonly budgets?: Partial<Pick<Budgets, 'maxRunUsd' | 'maxModelUsd' | 'maxRunTokens'>>;
};

/** Cells whose answer can be graded only by running it again say so. */
const SESSION_CLOSED: Outcome = {
  kind: 'unscored',
  reason: {
    code: 'session_closed',
    phase: 'evaluate',
    message:
      'its scorers look into the session of its agent, which is closed (evaluation "reuse"): `assay retry --only unscored` runs it again and grades it',
  },
  limit: null,
};

/**
 * Opens a generation in which every answer of a run that has ended is graded again, and nothing is run. With no
 * answer that can be graded nothing changes. Throws when the run has not ended.
 */
export async function planGrading(
  db: Db,
  { tasks, ...request }: GradingRequest,
): Promise<{ readonly generation: number; readonly cells: number; readonly ungradable: number }> {
  return selectRow(db, {
    text: 'select generation, cells, ungradable from plan_grading($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    values: [
      request.runId,
      request.token,
      request.scorers === null ? null : escapeText(JSON.stringify(request.scorers)),
      JSON.stringify(request.budgets ?? {}),
      tasks.map(({ task }) => task),
      tasks.map(({ gradingDigest }) => gradingDigest),
      tasks.map(({ gradable }) => gradable),
      'session_closed',
      JSON.stringify(SESSION_CLOSED),
    ],
  });
}

/** Cells of a run that have an answer to grade. */
export async function countAnswers(db: Db, runId: string): Promise<number> {
  const { cells } = await selectRow<{ cells: number }>(db, {
    text: 'select count(*) as cells from latest_attempts where run_id = $1 and is_answered(outcome, origin_run)',
    values: [runId],
  });
  return cells;
}

/** Every task of a run, in order. */
export async function listTaskCases(
  db: Db,
  runId: string,
): Promise<{ readonly task: number; readonly requestIndex: number; readonly caseId: string }[]> {
  const rows = await selectRows<{ task: number; request_index: number; case_id: string }>(db, {
    text: 'select task, request_index, case_id from tasks where run_id = $1 order by task',
    values: [runId],
  });
  return rows.map((row) => ({
    task: row.task,
    requestIndex: row.request_index,
    caseId: unescapeText(row.case_id),
  }));
}

/** Cases of a run without a target, each once; at most a hundred. */
export async function listWithoutTarget(db: Db, runId: string): Promise<string[]> {
  const rows = await selectRows<{ case_id: string }>(db, {
    text: `select distinct case_id from cases where run_id = $1 and target is null order by case_id limit 100`,
    values: [runId],
  });
  return rows.map((row) => unescapeText(row.case_id));
}
