import type { AnalysisRow } from '../domain/analysis-row.ts';
import type { AttemptKey } from '../domain/ids.ts';
import type { ToolStatus } from '../domain/transcript.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { escapeNullable, escapeText, unescapeNullable, unescapeText } from './text.ts';

export type TryPlace = { readonly key: AttemptKey; readonly tryNumber: number };

const toValues = ({ key, tryNumber }: TryPlace): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  tryNumber,
];

const OF_TRY = 'run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5';

export type ToolCallRow = {
  readonly step: number;
  readonly tool: string;
  readonly argumentsDigest: string;
  readonly status: ToolStatus | null;
  readonly tookMs: number | null;
};

/** Tool calls of one try, in order. */
export const listToolCalls = (db: Db, place: TryPlace): Promise<ToolCallRow[]> =>
  selectRows<ToolCallRow>(db, {
    name: 'list-tool-calls',
    text: `select step, tool, arguments_digest as "argumentsDigest", status,
        extract(epoch from completed_at - started_at)::float8 * 1000 as "tookMs"
      from tool_calls where ${OF_TRY} order by step, call`,
    values: toValues(place),
  });

export type ModelCallRow = {
  readonly step: number;
  readonly latencyMs: number | null;
  readonly waitedMs: number;
};

/** The agent's model calls of one try, in order; requests that were repeated count as one call. */
export const listModelCalls = (db: Db, place: TryPlace): Promise<ModelCallRow[]> =>
  selectRows<ModelCallRow>(db, {
    name: 'list-model-calls',
    text: `select step, sum(latency_ms) filter (where state = 'completed') as "latencyMs", sum(waited_ms) as "waitedMs"
      from model_calls where ${OF_TRY} and purpose = 'agent' group by step order by step`,
    values: toValues(place),
  });

/** Keeps what analyzers said of an attempt; the same again changes nothing. */
export async function recordAnalyses(db: Db, key: AttemptKey, rows: readonly AnalysisRow[]): Promise<void> {
  if (rows.length === 0) return;
  await db.query({
    name: 'record-analyses',
    text: `insert into analyses (run_id, task, attempt, generation, analyzer, position, summary, facts, error)
      select $1, $2, $3, $4, a.analyzer, a.position, a.summary, a.facts, a.error
      from rows from (unnest($5::text[], $6::text[], $7::text[], $8::text[])) with ordinality
        as a(analyzer, summary, facts, error, position)
      on conflict do nothing`,
    values: [
      key.runId,
      key.task,
      key.attempt,
      key.generation,
      rows.map(({ analyzer }) => escapeText(analyzer)),
      rows.map(({ summary }) => escapeNullable(summary)),
      rows.map(({ facts }) => JSON.stringify(facts)),
      rows.map(({ error }) => escapeNullable(error)),
    ],
  });
}

export type StoredAnalysis = AnalysisRow & Pick<AttemptKey, 'task' | 'attempt' | 'generation'>;

/** What was said of the attempts of a run, or of one task, in order. */
export async function loadAnalyses(
  db: Db,
  { runId, task = null }: { readonly runId: string; readonly task?: number | null },
): Promise<readonly StoredAnalysis[]> {
  const rows = await selectRows<Omit<StoredAnalysis, 'facts'> & { readonly facts: string }>(db, {
    text: `select task, attempt, generation, analyzer, summary, facts, error from analyses
      where run_id = $1 and ($2::int is null or task = $2) order by task, attempt, generation, position`,
    values: [runId, task],
  });
  return rows.map((row) => ({
    ...row,
    analyzer: unescapeText(row.analyzer),
    summary: unescapeNullable(row.summary),
    facts: JSON.parse(row.facts) as AnalysisRow['facts'],
    error: unescapeNullable(row.error),
  }));
}
