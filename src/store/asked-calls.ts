import type { ToolCallKey } from '../domain/ids.ts';
import type { ToolResolution } from '../domain/tool-ledger.ts';
import type { Db } from './pool.ts';
import { selectRows } from './pool.ts';
import { escapeNullable, unescapeText } from './text.ts';
import { toKeyValues } from './tool-calls.ts';

/** A call whose outcome nobody knows and whose attempt waits for a person. */
export type AskedCallRow = ToolCallKey & {
  readonly modelId: string;
  readonly caseId: string;
  readonly requestName: string;
  readonly tool: string;
  readonly executions: number;
  /** The workflow that is to be told. */
  readonly workflowId: string;
  /** ISO 8601. */
  readonly askedAt: string;
};

const KEY = `run_id = $1 and task = $2 and attempt = $3 and generation = $4 and try_number = $5 and step = $6
  and call = $7`;

/** Says that a started call waits for a person; asked again, it keeps the first time. */
export async function askAboutCall(
  db: Db,
  { key, workflowId }: { readonly key: ToolCallKey; readonly workflowId: string },
): Promise<void> {
  await db.query({
    text: `update tool_calls set asked_at = coalesce(asked_at, now()), asked_workflow = $8, resolution = null,
      resolved_by = null where ${KEY} and state = 'started'`,
    values: [...toKeyValues(key), workflowId],
  });
}

/** Keeps what was said of a call. */
export async function recordResolution(
  db: Db,
  { key, resolution }: { readonly key: ToolCallKey; readonly resolution: ToolResolution },
): Promise<void> {
  await db.query({
    text: `update tool_calls set resolution = $8, resolved_by = $9 where ${KEY}`,
    values: [...toKeyValues(key), resolution.choice, escapeNullable(resolution.by)],
  });
}

/** Calls of a run that somebody has to decide on, the oldest first. */
export async function listAskedCalls(db: Db, runId: string): Promise<readonly AskedCallRow[]> {
  const rows = await selectRows<AskedCallRow>(db, {
    name: 'list-asked-calls',
    text: `select c.run_id as "runId", c.task, c.attempt, c.generation, c.try_number as "tryNumber", c.step, c.call,
        t.model_id as "modelId", t.case_id as "caseId", r.name as "requestName", c.tool, c.executions,
        c.asked_workflow as "workflowId", to_json(c.asked_at) #>> '{}' as "askedAt"
      from tool_calls c
        join tasks t on t.run_id = c.run_id and t.task = c.task
        join requests r on r.run_id = t.run_id and r.request_index = t.request_index
        join attempts a on a.run_id = c.run_id and a.task = c.task and a.attempt = c.attempt
          and a.generation = c.generation
      where c.run_id = $1 and c.asked_at is not null and c.state = 'started' and c.resolution is null
        and a.outcome is null
      order by c.asked_at, c.task, c.attempt`,
    values: [runId],
  });
  return rows.map((row) => ({
    ...row,
    modelId: unescapeText(row.modelId),
    caseId: unescapeText(row.caseId),
    requestName: unescapeText(row.requestName),
    tool: unescapeText(row.tool),
  }));
}
