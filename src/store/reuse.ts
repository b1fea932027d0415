import type { CellDifference, Reuse } from '../domain/reuse.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { escapeText, unescapeText } from './text.ts';

export type ReuseCounts = Pick<Reuse, 'scored' | 'taken' | 'graded' | 'mismatched'>;

/**
 * Gives a run that has just been planned the scored cells of another whose fingerprints match; with `allowMismatch`
 * also those of equal names. Set-based, in the transaction of the caller.
 */
export const takeCells = (
  db: Db,
  ask: { readonly runId: string; readonly sourceRunId: string; readonly allowMismatch: boolean },
): Promise<ReuseCounts> =>
  selectRow<ReuseCounts>(db, {
    text: 'select scored, taken, graded, mismatched from reuse_cells($1, $2, $3)',
    values: [ask.runId, ask.sourceRunId, ask.allowMismatch],
  });

/** Cells of equal names whose answers depend on something else, with one of them as an example. */
export type RefusedCells = {
  /** Setups as they were digested, as JSON. */
  readonly setup: unknown;
  readonly sourceSetup: unknown;
  readonly sameContent: boolean;
  readonly cells: number;
  /** Of them, those that were not taken. */
  readonly refused: number;
  readonly example: CellName;
  readonly sourceExample: CellName;
};

type CellName = {
  readonly runId: string;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
};

/** At most twenty groups, the largest first. */
export async function listRefusedCells(
  db: Db,
  { runId, sourceRunId }: { readonly runId: string; readonly sourceRunId: string },
): Promise<RefusedCells[]> {
  const rows = await selectRows<StoredRefusal>(db, {
    text: `select r.*, p.plan as setup, s.plan as source_setup, e.request_index, e.model_id, e.case_id,
        m.request_index as made_request_index, m.model_id as made_model_id, m.case_id as made_case_id
      from list_refused_cells($1, $2) r
      join plans p on p.digest = r.setup_digest join plans s on s.digest = r.source_setup_digest
      join tasks e on e.run_id = $1 and e.task = r.task
      join tasks m on m.run_id = r.made_run and m.task = r.made_task
      order by r.cells desc`,
    values: [runId, sourceRunId],
  });
  return rows.map((row) => ({
    setup: JSON.parse(row.setup),
    sourceSetup: JSON.parse(row.source_setup),
    sameContent: row.same_content,
    cells: row.cells,
    refused: row.refused,
    example: {
      runId,
      requestIndex: row.request_index,
      modelId: unescapeText(row.model_id),
      caseId: unescapeText(row.case_id),
    },
    sourceExample: {
      runId: row.made_run,
      requestIndex: row.made_request_index,
      modelId: unescapeText(row.made_model_id),
      caseId: unescapeText(row.made_case_id),
    },
  }));
}

export async function saveReuse(db: Db, runId: string, reuse: Reuse): Promise<void> {
  await db.query({
    text: `insert into reuses (run_id, source_run, allow_mismatch, scored, taken, graded, mismatched, refused, differences)
      values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    values: [
      runId,
      reuse.runId,
      reuse.allowMismatch,
      reuse.scored,
      reuse.taken,
      reuse.graded,
      reuse.mismatched,
      reuse.refused,
      escapeText(JSON.stringify(reuse.differences)),
    ],
  });
}

/** What a run took from another one; null = it took nothing from any. */
export async function loadReuse(db: Db, runId: string): Promise<Reuse | null> {
  const [row] = await selectRows<StoredReuse>(db, {
    text: `select source_run, allow_mismatch, scored, taken, graded, mismatched, refused, differences
      from reuses where run_id = $1`,
    values: [runId],
  });
  if (row === undefined) return null;
  const { source_run, allow_mismatch, differences, ...counts } = row;
  return {
    runId: source_run,
    allowMismatch: allow_mismatch,
    ...counts,
    differences: JSON.parse(unescapeText(differences)) as CellDifference[],
  };
}

type StoredReuse = ReuseCounts & {
  readonly source_run: string;
  readonly allow_mismatch: boolean;
  readonly refused: number;
  readonly differences: string;
};

type StoredRefusal = {
  readonly setup: string;
  readonly source_setup: string;
  readonly same_content: boolean;
  readonly cells: number;
  readonly refused: number;
  readonly request_index: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly made_run: string;
  readonly made_request_index: number;
  readonly made_model_id: string;
  readonly made_case_id: string;
};
