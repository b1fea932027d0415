import type { AnalysisRow } from '../domain/analysis-row.ts';
import type { AttemptKey } from '../domain/ids.ts';
import type { Outcome } from '../domain/outcome.ts';
import type { EnforcedResources } from '../domain/resources.ts';
import type { Score } from '../domain/score.ts';
import type { CommandRun } from '../domain/step.ts';
import { loadAnalyses, type StoredAnalysis } from './analyses.ts';
import type { AttemptWarning } from './attempt-warnings.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import type { SessionRow } from './sessions.ts';
import { loadScores, toCellName } from './scores.ts';
import { escapeText, unescapeNullable, unescapeText } from './text.ts';

/** One attempt in one generation: what it is, and how it ended. */
export type AttemptHead = {
  readonly key: AttemptKey;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
  readonly tryNumber: number;
  /** False = strategy `pass` took it out of the plan. */
  readonly planned: boolean;
  readonly outcome: Outcome | null;
  /** The attempt in which its answer was made: of another run, or of an earlier generation; null = here. */
  readonly origin: (AttemptKey & { readonly mismatch: boolean }) | null;
  /** What it is made of: a row of the plans. */
  readonly planDigest: string | null;
  readonly answerDigest: string | null;
  readonly answerPreview: string | null;
};

/** Everything that is recorded of one attempt in one generation, without the messages themselves. Moments are ISO 8601. */
export type AttemptDetail = AttemptHead & {
  readonly scores: readonly Score[];
  readonly calls: readonly CallDetail[];
  readonly toolCalls: readonly ToolCallDetail[];
  /** External agents, one for each try that started one. */
  readonly agents: readonly AgentDetail[];
  readonly steps: readonly StepDetail[];
  readonly tries: readonly TryDetail[];
  /** What analyzers say of the agent's way. */
  readonly analyses: readonly AnalysisRow[];
  /** What went wrong beside it and took nothing from it. */
  readonly warnings: readonly AttemptWarning[];
  /** Of its environment, in the order in which they were opened. */
  readonly sessions: readonly SessionDetail[];
};

export type SessionDetail = {
  readonly tryNumber: number;
  readonly purpose: SessionRow['purpose'];
  readonly kind: string;
  readonly hostId: string;
  readonly state: SessionRow['state'];
  /** The limits as they held; null = it was never open. */
  readonly resources: EnforcedResources | null;
  readonly createdAt: string;
  readonly openedAt: string | null;
  readonly closedAt: string | null;
};

export type CallDetail = {
  readonly tryNumber: number;
  readonly purpose: string;
  readonly step: number;
  readonly requestNumber: number;
  readonly state: 'started' | 'completed' | 'failed' | 'lost' | 'late';
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly costUsd: number | null;
  /** Charged at the worst case because nobody knows better. */
  readonly estimated: boolean;
  readonly latencyMs: number | null;
  readonly waitedMs: number;
  readonly finishReason: string | null;
  readonly failureClass: string | null;
  readonly failureMessage: string | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
};

export type ToolCallDetail = {
  readonly tryNumber: number;
  readonly step: number;
  readonly call: number;
  readonly tool: string;
  readonly state: 'started' | 'completed';
  readonly status: string | null;
  readonly outputDigest: string | null;
  readonly executions: number;
  /** Its arguments were repaired before it ran. */
  readonly repaired: boolean;
  readonly startedAt: string;
  readonly completedAt: string | null;
  /** Since when a person is asked what became of it, and what was said. */
  readonly askedAt: string | null;
  readonly resolution: string | null;
};

export type AgentDetail = {
  readonly tryNumber: number;
  readonly state: 'started' | 'completed' | 'lost';
  /** Null unless completed. */
  readonly run: CommandRun | null;
  readonly startedAt: string;
  readonly finishedAt: string | null;
};

export type StepDetail = {
  readonly tryNumber: number;
  readonly sequence: number;
  readonly role: string;
  readonly digest: string;
};

export type TryDetail = {
  readonly tryNumber: number;
  readonly late: boolean;
  readonly stage: string | null;
  readonly scope: string | null;
  readonly pattern: string | null;
  readonly error: string | null;
  readonly endedAt: string;
};

/** Which attempts: those of a case, of all models unless one is named. */
export type AttemptQuery = {
  readonly runId: string;
  readonly caseId: string;
  readonly modelId?: string | null;
};

/**
 * Every attempt of a case, all generations, ordered by request, task, attempt and generation. Empty when the run has no
 * such case.
 */
export async function listAttempts(
  db: Db,
  { runId, caseId, modelId = null }: AttemptQuery,
): Promise<AttemptHead[]> {
  const rows = await selectRows<StoredAttempt>(db, {
    text: `select a.task, a.attempt, a.generation, t.request_index, t.model_id, t.case_id, a.try_number, a.planned,
        a.detail, a.origin_run, a.origin_task, a.origin_attempt, a.origin_generation, a.mismatch, a.answer_digest,
        a.answer_preview, coalesce(a.plan_digest, r.plan_digest) as plan_digest
      from tasks t join attempts a on a.run_id = t.run_id and a.task = t.task join runs r on r.run_id = t.run_id
      where t.run_id = $1 and t.case_id = $2 and ($3::text is null or t.model_id = $3)
      order by t.request_index, a.task, a.attempt, a.generation`,
    values: [runId, escapeText(caseId), modelId === null ? null : escapeText(modelId)],
  });
  return rows.map((row) => toHead(runId, row));
}

/** `listAttempts`, each with all that is recorded of it. */
export async function loadAttemptDetail(db: Db, query: AttemptQuery): Promise<AttemptDetail[]> {
  const details: AttemptDetail[] = [];
  for (const head of await listAttempts(db, query)) details.push(await loadAttempt(db, head));
  return details;
}

/** All that is recorded of one attempt; where its answer was made elsewhere, what happened there comes first. */
export async function loadAttempt(db: Db, head: AttemptHead): Promise<AttemptDetail> {
  const own = await loadRecorded(db, head);
  if (head.origin === null) return own;
  const made = await loadRecorded(db, { ...head, key: head.origin });
  return {
    ...own,
    calls: [...made.calls, ...own.calls],
    toolCalls: [...made.toolCalls, ...own.toolCalls],
    agents: [...made.agents, ...own.agents],
    steps: made.steps,
    tries: [...made.tries, ...own.tries],
    warnings: [...made.warnings, ...own.warnings],
    sessions: [...made.sessions, ...own.sessions],
  };
}

async function loadRecorded(db: Db, head: AttemptHead): Promise<AttemptDetail> {
  const { runId, task, attempt, generation } = head.key;
  const load = <Row extends object>(columns: string, rest: string): Promise<Row[]> =>
    selectRows<Row & { [column: string]: unknown }>(db, {
      text: `select try_number as "tryNumber", ${columns}
        from ${rest.replace('WHERE', 'where run_id = $1 and task = $2 and attempt = $3 and generation = $4 order by try_number,')}`,
      values: [runId, task, attempt, generation],
    });
  const calls = await load<CallDetail>(
    `purpose, step, request_number as "requestNumber", state, input_tokens as "inputTokens",
      output_tokens as "outputTokens", coalesce(cost_usd, case when worst_usd = 0 then 0 end) as "costUsd", estimated, latency_ms as "latencyMs",
      waited_ms as "waitedMs", finish_reason as "finishReason", failure_class as "failureClass",
      failure_message as "failureMessage", ${toIso('started_at', 'startedAt')}, ${toIso('finished_at', 'finishedAt')}`,
    'model_calls WHERE step, purpose, request_number',
  );
  const analyses = (await loadAnalyses(db, { runId, task })).filter((row) => isOf(head, row));
  return {
    ...head,
    scores: (await loadScores(db, { runId, task })).get(toCellName(head.key)) ?? [],
    calls: calls.map((call) => ({ ...call, failureMessage: unescapeNullable(call.failureMessage) })),
    toolCalls: await load(
      `step, call, tool, state, status, output_digest as "outputDigest", executions, repaired, resolution,
        ${toIso('started_at', 'startedAt')}, ${toIso('completed_at', 'completedAt')}, ${toIso('asked_at', 'askedAt')}`,
      'tool_calls WHERE step, call',
    ),
    steps: await load('sequence, role, digest', 'steps WHERE sequence'),
    agents: (await load<StoredAgent>(AGENT_COLUMNS, 'command_runs WHERE state')).map(toAgent),
    tries: await load(
      `late, stage, scope, pattern, error, ${toIso('ended_at', 'endedAt')}`,
      'tries WHERE late',
    ),
    analyses: analyses.map(({ task: _task, attempt: _attempt, generation: _generation, ...row }) => row),
    warnings: await load('phase, message', 'attempt_warnings WHERE noted_at'),
    sessions: await load(
      `purpose, kind, host_id as "hostId", state, resources, ${toIso('created_at', 'createdAt')},
        ${toIso('opened_at', 'openedAt')}, ${toIso('closed_at', 'closedAt')}`,
      'environment_sessions WHERE created_at',
    ),
  };
}

const isOf = ({ key }: AttemptHead, row: StoredAnalysis): boolean => toCellName(row) === toCellName(key);

/** A moment as ISO 8601 in UTC, with milliseconds. */
const toIso = (column: string, name: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "${name}"`;

const AGENT_COLUMNS = `state, detail, ${toIso('started_at', 'startedAt')}, ${toIso('finished_at', 'finishedAt')}`;

type StoredAgent = Omit<AgentDetail, 'run'> & { readonly detail: string | null };

const toAgent = ({ detail, ...agent }: StoredAgent): AgentDetail => ({
  ...agent,
  run: detail === null ? null : (JSON.parse(unescapeText(detail)) as CommandRun),
});

const toHead = (runId: string, row: StoredAttempt): AttemptHead => ({
  key: { runId, task: row.task, attempt: row.attempt, generation: row.generation },
  requestIndex: row.request_index,
  modelId: unescapeText(row.model_id),
  caseId: unescapeText(row.case_id),
  tryNumber: row.try_number,
  planned: row.planned,
  outcome: row.detail === null ? null : (JSON.parse(row.detail) as Outcome),
  origin: toOrigin(row),
  planDigest: row.plan_digest,
  answerDigest: row.answer_digest,
  answerPreview: unescapeNullable(row.answer_preview),
});

const toOrigin = (row: StoredAttempt): AttemptHead['origin'] =>
  row.origin_run === null
    ? null
    : {
        runId: row.origin_run,
        task: row.origin_task ?? 0,
        attempt: row.origin_attempt ?? 0,
        generation: row.origin_generation ?? 0,
        mismatch: row.mismatch,
      };

type StoredAttempt = {
  readonly task: number;
  readonly attempt: number;
  readonly generation: number;
  readonly request_index: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly try_number: number;
  readonly planned: boolean;
  readonly detail: string | null;
  readonly origin_run: string | null;
  readonly origin_task: number | null;
  readonly origin_attempt: number | null;
  readonly origin_generation: number | null;
  readonly mismatch: boolean;
  readonly plan_digest: string | null;
  readonly answer_digest: string | null;
  readonly answer_preview: string | null;
};
