import type { JsonObject } from '../domain/json.ts';
import type { Score } from '../domain/score.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { unescapeText } from './text.ts';

export type StoredScore = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly scorer: string;
  readonly kind: string;
  readonly weight: number;
  readonly required: boolean;
  readonly value: number | null;
  readonly pass: boolean | null;
  readonly code: string | null;
  readonly explanation: string;
  readonly metrics: string | null;
};

/** Scores of a run (or of one task) by cell, keyed by `toCellName`; each in the order of its scorers. */
export async function loadScores(
  db: Db,
  { runId, task = null }: { readonly runId: string; readonly task?: number | null },
): Promise<Map<string, Score[]>> {
  const rows = await selectRows<StoredScore>(db, {
    text: `select s.task, s.attempt, s.generation, s.scorer, s.kind, s.weight, s.required, s.value, s.pass, s.code,
        s.explanation, s.metrics
      from scores s where s.run_id = $1 and ($2::int is null or s.task = $2)
      order by s.task, s.attempt, s.generation, s.position`,
    values: [runId, task],
  });
  const scores = new Map<string, Score[]>();
  for (const row of rows) {
    const name = toCellName(row);
    const others = scores.get(name);
    if (others === undefined) scores.set(name, [toScore(row)]);
    else others.push(toScore(row));
  }
  return scores;
}

/** Name of one row of `attempts` inside its run. */
export const toCellName = (cell: { task: number; attempt: number; generation: number }): string =>
  `${cell.task}/${cell.attempt}/${cell.generation}`;

const toScore = (row: StoredScore): Score => ({
  scorer: unescapeText(row.scorer),
  kind: row.kind,
  weight: row.weight,
  required: row.required,
  verdict:
    row.value === null || row.pass === null
      ? { kind: 'unscored', code: unescapeText(row.code ?? ''), explanation: unescapeText(row.explanation) }
      : {
          kind: 'scored',
          value: row.value,
          pass: row.pass,
          explanation: unescapeText(row.explanation),
          metrics: JSON.parse(row.metrics ?? '{}') as JsonObject,
        },
});
