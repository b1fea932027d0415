import type { ToolCallKey } from '../domain/ids.ts';
import type { LedgerState } from '../domain/tool-ledger.ts';
import type { ToolMessage, ToolStatus } from '../domain/transcript.ts';
import { prepareBlob, toJsonBlob, toTextBlob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRow, selectRows } from './pool.ts';
import { escapeText, unescapeText } from './text.ts';

/** What the ledger holds of a call, after the row `started` was written if there was none. */
export type ToolStart = Exclude<LedgerState, { kind: 'completed' }> | CompletedCall;

/** It has run: nobody runs it again. */
export type CompletedCall = {
  readonly kind: 'completed';
  readonly outputDigest: string;
  readonly status: ToolStatus;
};

/** Writes the ledger row of a tool call before the tool runs. Throws when the key holds another call. */
export async function startToolCall(
  db: Db,
  call: {
    readonly key: ToolCallKey;
    readonly tool: string;
    readonly argumentsDigest: string;
    readonly idempotent: boolean;
    /** The arguments are not as the model wrote them. */
    readonly repaired?: boolean;
  },
): Promise<ToolStart> {
  const row = await selectRow<StoredStart>(db, {
    name: 'start-tool-call',
    text: 'select kind, executions, output_digest, status from start_tool_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    values: [
      ...toKeyValues(call.key),
      escapeText(call.tool),
      call.argumentsDigest,
      call.idempotent,
      call.repaired ?? false,
    ],
  });
  switch (row.kind) {
    case 'fresh':
      return { kind: 'fresh' };
    case 'started':
      return { kind: 'started', executions: row.executions };
    case 'completed':
      return { kind: 'completed', outputDigest: row.output_digest, status: row.status };
  }
}

type StoredStart = {
  readonly kind: ToolStart['kind'];
  readonly executions: number;
  readonly output_digest: string;
  readonly status: ToolStatus;
};

/** Counts one more execution before it begins. False = the row is no longer as it was read: decide anew. */
export async function rerunToolCall(
  db: Db,
  { key, executions }: { readonly key: ToolCallKey; readonly executions: number },
): Promise<boolean> {
  const row = await selectRow<{ again: boolean }>(db, {
    text: 'select rerun_tool_call($1, $2, $3, $4, $5, $6, $7, $8) as again',
    values: [...toKeyValues(key), executions],
  });
  return row.again;
}

/**
 * Records the full output of a started call, and the message that the model reads at `sequence` of the
 * transcript, in one round trip. The first end wins: false = the call was completed before.
 */
export async function completeToolCall(
  db: Db,
  call: {
    readonly key: ToolCallKey;
    readonly status: ToolStatus;
    /** Full output; the message holds what the model reads. */
    readonly output: string;
    readonly message: ToolMessage;
    readonly sequence: number;
  },
): Promise<{
  readonly completed: boolean;
  readonly outputDigest: string;
  /** Of the message as JSON. */
  readonly messageBytes: number;
}> {
  const output = toTextBlob(call.output);
  const message = toJsonBlob(call.message);
  const row = await selectRow<{ completed: boolean }>(db, {
    name: 'complete-tool-call',
    text: `select complete_tool_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) as completed`,
    values: [
      ...toKeyValues(call.key),
      call.status,
      output.digest,
      await prepareBlob(db, output),
      call.sequence,
      message.digest,
      await prepareBlob(db, message),
    ],
  });
  return {
    completed: row.completed,
    outputDigest: output.digest,
    messageBytes: message.bytes.byteLength,
  };
}

/** The row of a call, or null when it was never started. */
export async function findToolCall(
  db: Db,
  key: ToolCallKey,
): Promise<{
  readonly state: 'started' | 'completed';
  readonly tool: string;
  readonly executions: number;
} | null> {
  const [row] = await selectRows<{ state: 'started' | 'completed'; tool: string; executions: number }>(db, {
    text: `select state, tool, executions from tool_calls where run_id = $1 and task = $2 and attempt = $3
      and generation = $4 and try_number = $5 and step = $6 and call = $7`,
    values: toKeyValues(key),
  });
  return row === undefined ? null : { ...row, tool: unescapeText(row.tool) };
}

export const toKeyValues = (key: ToolCallKey): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  key.tryNumber,
  key.step,
  key.call,
];
