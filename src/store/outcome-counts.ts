import type { OutcomeKind } from '../domain/outcome.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeText } from './text.ts';

/** How many cells of a run have each outcome, each cell in its latest generation. */
export async function loadOutcomeCounts(
  db: Db,
  runId: string,
): Promise<{ readonly [K in OutcomeKind]?: number }> {
  const rows = await selectRows<{ outcome: OutcomeKind; cells: number }>(db, {
    text: `select outcome, count(*) as cells from latest_attempts
      where run_id = $1 and outcome is not null group by outcome`,
    values: [runId],
  });
  return Object.fromEntries(rows.map((row) => [row.outcome, row.cells]));
}

/** Cells by model whose latest outcome is one of these, or that have none; those that are only graded are left out. */
export async function countCellsByModel(
  db: Db,
  {
    runId,
    outcomes,
    oneStepRequests,
  }: {
    readonly runId: string;
    readonly outcomes: readonly OutcomeKind[];
    readonly oneStepRequests: readonly number[];
  },
): Promise<ReadonlyMap<string, number>> {
  const rows = await selectRows<{ model_id: string; cells: number }>(db, {
    text: `select t.model_id, count(*) as cells from attempts a join tasks t using (run_id, task)
      where a.run_id = $1 and a.latest and a.planned and (a.outcome is null or a.outcome = any($2::text[]))
        and not has_answer(a, t.gradable, t.request_index = any($3::int[]))
      group by t.model_id`,
    values: [runId, outcomes, oneStepRequests],
  });
  return new Map(rows.map((row) => [unescapeText(row.model_id), row.cells]));
}

export type OpenCells = { readonly cells: number; readonly tasks: number };

/** Cells of a generation that wait for a result, and the tasks that they belong to, by request index. */
export async function countOpenCells(
  db: Db,
  { runId, generation }: { readonly runId: string; readonly generation: number },
): Promise<ReadonlyMap<number, OpenCells>> {
  const rows = await selectRows<OpenCells & { request_index: number }>(db, {
    text: `select t.request_index, count(*) as cells, count(distinct a.task) as tasks from attempts a join tasks t using (run_id, task)
      where a.run_id = $1 and a.generation = $2 and a.planned and a.outcome is null group by t.request_index`,
    values: [runId, generation],
  });
  return new Map(rows.map(({ request_index: index, cells, tasks }) => [index, { cells, tasks }]));
}
