import { setTimeout as sleep } from 'node:timers/promises';
import type { ResolutionChoice } from '../domain/tool-ledger.ts';
import { listAskedCalls, type AskedCallRow } from '../store/asked-calls.ts';
import { NOTHING_WAITS, RESOLVE_TOOL_CALL, type ResolvedToolCall } from '../workflows/messages.ts';
import { ClientError } from './client-error.ts';
import type { AssayConnection } from './connect.ts';

export type ToolCallWord = {
  /** A case, `model/case`, `model/case/a2`, or `task/attempt`; what is enough to tell it from others that wait. */
  readonly cell: string;
  readonly choice: ResolutionChoice;
  readonly output?: string;
  readonly by?: string;
};

const ANSWER_MS = 60_000;

/**
 * Says what became of a tool call that an attempt waits with, and returns when the attempt has taken it. Throws a
 * ClientError that names what waits when the cell fits none or several, or when the attempt takes it no more.
 */
export async function resolveToolCall(
  connection: AssayConnection,
  runId: string,
  { cell, ...said }: ToolCallWord,
): Promise<ResolvedToolCall & { readonly cell: string }> {
  const client = await connection.temporal();
  const untilMs = Date.now() + EARLY_MS;
  for (;;) {
    const asked = findAsked(await listAskedCalls(connection.db, runId), { runId, cell });
    const input = { ...said, step: asked.step, call: asked.call };
    const handle = client.workflow.getHandle(asked.workflowId);
    try {
      const answer = await client.connection.withDeadline(Date.now() + ANSWER_MS, () =>
        handle.executeUpdate<ResolvedToolCall, [object]>(RESOLVE_TOOL_CALL, { args: [input] }),
      );
      return { ...answer, cell: formatAskedCell(asked) };
    } catch (error) {
      if (!isEarly(error) || Date.now() > untilMs) throw await toClientError(error, formatAskedCell(asked));
      await sleep(200);
    }
  }
}

/** The row is there a moment before its attempt has heard of it. */
const EARLY_MS = 10_000;

const isEarly = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof Error && error.cause.message === NOTHING_WAITS;

/** `model/case/a1`, as `assay resolve` takes it. */
export const formatAskedCell = ({ modelId, caseId, attempt }: AskedCallRow): string =>
  `${modelId}/${caseId}/a${attempt}`;

function findAsked(
  all: readonly AskedCallRow[],
  { runId, cell }: { readonly runId: string; readonly cell: string },
): AskedCallRow {
  const fitting = all.filter((one) => listWords(one).includes(cell));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  const names = (fitting.length === 0 ? all : fitting).map(formatAskedCell).join(', ');
  if (all.length === 0)
    throw new ClientError(
      `No tool call of run ${runId} waits for a decision; \`assay show ${runId}\` says how it stands.`,
    );
  throw new ClientError(
    fitting.length === 0
      ? `No tool call of "${cell}" waits for a decision in run ${runId}. These do: ${names}.`
      : `"${cell}" could be ${fitting.length} cells: ${names}. Type one of these.`,
  );
}

const listWords = (one: AskedCallRow): readonly string[] => [
  one.caseId,
  `${one.modelId}/${one.caseId}`,
  formatAskedCell(one),
  `${one.requestName}/${formatAskedCell(one)}`,
  `${one.task}/${one.attempt}`,
];

async function toClientError(error: unknown, cell: string): Promise<unknown> {
  const temporal = await import('@temporalio/client');
  if (error instanceof temporal.WorkflowUpdateFailedError)
    return new ClientError(`Cannot resolve ${cell}: ${error.cause?.message ?? error.message}.`, {
      cause: error,
    });
  if (error instanceof temporal.WorkflowNotFoundError)
    return new ClientError(`Cannot resolve ${cell}: its attempt has ended.`, { cause: error });
  if (error instanceof temporal.WorkflowUpdateRPCTimeoutOrCancelledError)
    return new ClientError(
      `The attempt of ${cell} did not answer within ${ANSWER_MS / 1_000} s: no worker seems to run. \`assay doctor\` says more.`,
      { cause: error },
    );
  return error;
}
