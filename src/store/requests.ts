import type { Outcome, TerminalState } from '../domain/outcome.ts';
import type { RequestPlan, RunPlan } from '../domain/plan.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { escapeNullable, escapeText, unescapeNullable, unescapeText } from './text.ts';

/** What has become of a request of a run. */
export type RequestRow = {
  readonly requestIndex: number;
  readonly name: string;
  /** Null = it has not ended; a request may end long before its run. */
  readonly state: TerminalState | null;
  readonly failure: string | null;
  /** ISO 8601 in UTC; null = its tasks may not start yet. */
  readonly preparedAt: string | null;
  readonly finishedAt: string | null;
};

/** The requests of a run in declaration order; none while it has no plan. */
export async function listRequests(db: Db, runId: string): Promise<readonly RequestRow[]> {
  const rows = await selectRows<StoredRequest>(db, {
    text: `select request_index, name, state, failure, prepared_at, finished_at from requests
      where run_id = $1 order by request_index`,
    values: [runId],
  });
  return rows.map((row) => ({
    requestIndex: row.request_index,
    name: unescapeText(row.name),
    state: row.state,
    failure: unescapeNullable(row.failure),
    preparedAt: row.prepared_at?.toISOString() ?? null,
    finishedAt: row.finished_at?.toISOString() ?? null,
  }));
}

type RequestAddress = { readonly runId: string; readonly requestIndex: number };

/** Keeps that a request may start, and what its sessions start from. The first word about it counts. */
export async function markRequestPrepared(
  db: Db,
  { runId, requestIndex, image }: RequestAddress & { readonly image: string | null },
): Promise<void> {
  await db.query({
    text: `update requests set prepared_at = clock_timestamp(), image = $3
      where run_id = $1 and request_index = $2 and prepared_at is null`,
    values: [runId, requestIndex, escapeNullable(image)],
  });
}

/** Ends a request that cannot be prepared: its open cells are `not_run`. The first word about it counts. */
export async function failRequest(
  db: Db,
  {
    runId,
    requestIndex,
    generation,
    failure,
  }: RequestAddress & { readonly generation: number; readonly failure: string },
): Promise<void> {
  const reason = { code: 'preparation', phase: 'prepare', message: failure } as const;
  await db.query({
    text: 'select fail_request($1, $2, $3, $4, $5)',
    values: [
      runId,
      generation,
      requestIndex,
      escapeText(failure),
      JSON.stringify({ kind: 'not_run', reason, limit: null } satisfies Outcome),
    ],
  });
}

/** Ends those of these requests whose every planned cell has a result. */
export async function finishRequests(
  db: Db,
  { runId, requests }: { readonly runId: string; readonly requests: readonly number[] },
): Promise<void> {
  await db.query({ text: 'select finish_requests($1, $2)', values: [runId, requests] });
}

/** One sentence for each request that could not be prepared; null = there is none. */
export async function explainUnprepared(db: Db, runId: string): Promise<string | null> {
  const rows = await selectRows<{ message: string | null }>(db, {
    text: 'select explain_unprepared($1) as message',
    values: [runId],
  });
  return unescapeNullable(rows[0]?.message ?? null);
}

/** What the row of a request adds to its plan. */
export type RequestFindings = {
  readonly image: string | null;
  readonly failure: string | null;
  readonly prepared: boolean;
};

/** A plan with what was found out about its requests since it was recorded. */
export function withFindings(plan: RunPlan, findings: readonly RequestFindings[] | null): RunPlan {
  const requests = plan.requests.map((request) => withFinding(request, findings?.[request.index]));
  return { ...plan, requests, spec: { ...plan.spec, requests: requests.map(({ spec }) => spec) } };
}

function withFinding(request: RequestPlan, finding: RequestFindings | undefined): RequestPlan {
  if (finding === undefined) return request;
  const { unprepared: _, ...rest } = request;
  const { environment } = rest.spec;
  const image = unescapeNullable(finding.image);
  const spec =
    environment.kind === 'none' || image === null
      ? rest.spec
      : { ...rest.spec, environment: { ...environment, image } };
  const failure = unescapeNullable(finding.failure);
  return { ...rest, spec, failure, ...(finding.prepared ? {} : { unprepared: true }) };
}

type StoredRequest = {
  readonly request_index: number;
  readonly name: string;
  readonly state: TerminalState | null;
  readonly failure: string | null;
  readonly prepared_at: Date | null;
  readonly finished_at: Date | null;
};
