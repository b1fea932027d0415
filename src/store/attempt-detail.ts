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

/** Everything that is recorded of one attempt in one generation, without the messages themselves. */
export type AttemptDetail = {
  readonly key: AttemptKey;
  readonly requestIndex: number;
  readonly modelId: string;
  readonly caseId: string;
  readonly tryNumber: number;
  /** False = strategy `pass` took it out of the plan. */
  readonly planned: boolean;
  readonly outcome: Outcome | null;
  /** What it is made of: a row of the plans. */
  readonly planDigest: string | null;
  readonly answerDigest: string | null;
  readonly answerPreview: string | null;
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
};

export type AgentDetail = {
  readonly tryNumber: number;
  readonly state: 'started' | 'completed' | 'lost';
  /** Null unless completed. */
  readonly run: CommandRun | null;
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
};

/**
 * Every attempt of a case, all generations, ordered by request, task, attempt and generation; `modelId`
 * narrows it. Empty when the run has no such case.
 */
export async function loadAttemptDetail(
  db: Db,
  {
    runId,
    caseId,
    modelId = null,
  }: { readonly runId: string; readonly caseId: string; readonly modelId?: string | null },
): Promise<AttemptDetail[]> {
  const rows = await selectRows<StoredAttempt>(db, {
    text: `select a.task, a.attempt, a.generation, t.request_index, t.model_id, t.case_id, a.try_number, a.planned,
        a.detail, a.answer_digest, a.answer_preview, coalesce(a.plan_digest, r.plan_digest) as plan_digest
      from tasks t join attempts a on a.run_id = t.run_id and a.task = t.task join runs r on r.run_id = t.run_id
      where t.run_id = $1 and t.case_id = $2 and ($3::text is null or t.model_id = $3)
      order by t.request_index, a.task, a.attempt, a.generation`,
    values: [runId, escapeText(caseId), modelId === null ? null : escapeText(modelId)],
  });
  const details: AttemptDetail[] = [];
  for (const task of new Set(rows.map((row) => row.task))) {
    const parts = await loadParts(db, runId, task);
    for (const row of rows.filter((one) => one.task === task)) details.push(toDetail(runId, row, parts));
  }
  return details;
}

type Located = { readonly task: number; readonly attempt: number; readonly generation: number };

type Parts = {
  readonly scores: ReadonlyMap<string, readonly Score[]>;
  readonly calls: readonly (CallDetail & Located)[];
  readonly toolCalls: readonly (ToolCallDetail & Located)[];
  readonly agents: readonly (AgentDetail & Located)[];
  readonly steps: readonly (StepDetail & Located)[];
  readonly tries: readonly (TryDetail & Located)[];
  readonly analyses: readonly StoredAnalysis[];
  readonly warnings: readonly (AttemptWarning & Located)[];
  readonly sessions: readonly (SessionDetail & Located)[];
};

async function loadParts(db: Db, runId: string, task: number): Promise<Parts> {
  const load = <Row extends object>(columns: string, rest: string): Promise<Row[]> =>
    selectRows<Row & { [column: string]: unknown }>(db, {
      text: `select task, attempt, generation, try_number as "tryNumber", ${columns}
        from ${rest.replace('WHERE', 'where run_id = $1 and task = $2 order by attempt, generation, try_number,')}`,
      values: [runId, task],
    });
  const calls = await load<CallDetail & Located>(
    `purpose, step, request_number as "requestNumber", state, input_tokens as "inputTokens",
      output_tokens as "outputTokens", cost_usd as "costUsd", estimated, latency_ms as "latencyMs",
      waited_ms as "waitedMs", finish_reason as "finishReason", failure_class as "failureClass",
      failure_message as "failureMessage"`,
    'model_calls WHERE step, purpose, request_number',
  );
  return {
    scores: await loadScores(db, { runId, task }),
    calls: calls.map((call) => ({ ...call, failureMessage: unescapeNullable(call.failureMessage) })),
    toolCalls: await load(
      'step, call, tool, state, status, output_digest as "outputDigest", executions, repaired',
      'tool_calls WHERE step, call',
    ),
    steps: await load('sequence, role, digest', 'steps WHERE sequence'),
    agents: (await load<StoredAgent>('state, detail', 'command_runs WHERE state')).map(toAgent),
    tries: await load('late, stage, scope, pattern, error', 'tries WHERE late'),
    analyses: await loadAnalyses(db, { runId, task }),
    warnings: await load('phase, message', 'attempt_warnings WHERE noted_at'),
    sessions: await load(
      'purpose, kind, host_id as "hostId", state, resources',
      'environment_sessions WHERE created_at',
    ),
  };
}

type StoredAgent = Located & Pick<AgentDetail, 'tryNumber' | 'state'> & { readonly detail: string | null };

const toAgent = ({ detail, ...agent }: StoredAgent): AgentDetail & Located => ({
  ...agent,
  run: detail === null ? null : (JSON.parse(unescapeText(detail)) as CommandRun),
});

function toDetail(runId: string, row: StoredAttempt, parts: Parts): AttemptDetail {
  const name = toCellName(row);
  const ofThis = <Part extends Located>(all: readonly Part[]): Omit<Part, keyof Located>[] =>
    all
      .filter((part) => toCellName(part) === name)
      .map(({ task: _task, attempt: _attempt, generation: _generation, ...part }) => part);
  return {
    key: { runId, task: row.task, attempt: row.attempt, generation: row.generation },
    requestIndex: row.request_index,
    modelId: unescapeText(row.model_id),
    caseId: unescapeText(row.case_id),
    tryNumber: row.try_number,
    planned: row.planned,
    outcome: row.detail === null ? null : (JSON.parse(row.detail) as Outcome),
    planDigest: row.plan_digest,
    answerDigest: row.answer_digest,
    answerPreview: unescapeNullable(row.answer_preview),
    scores: parts.scores.get(name) ?? [],
    calls: ofThis(parts.calls),
    toolCalls: ofThis(parts.toolCalls),
    agents: ofThis(parts.agents),
    steps: ofThis(parts.steps),
    tries: ofThis(parts.tries),
    analyses: ofThis(parts.analyses),
    warnings: ofThis(parts.warnings),
    sessions: ofThis(parts.sessions),
  };
}

type StoredAttempt = Located & {
  readonly request_index: number;
  readonly model_id: string;
  readonly case_id: string;
  readonly try_number: number;
  readonly planned: boolean;
  readonly detail: string | null;
  readonly plan_digest: string | null;
  readonly answer_digest: string | null;
  readonly answer_preview: string | null;
};
