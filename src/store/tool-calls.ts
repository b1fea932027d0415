import type { ToolCallKey } from '../domain/ids.ts';
import type { ToolMessage, ToolStatus } from '../domain/transcript.ts';
import { prepareBlob, toJsonBlob, toTextBlob } from './blobs.ts';
import type { Db } from './pool.ts';
import { selectRow } from './pool.ts';
import { escapeText } from './text.ts';

export type ToolStart =
  /** The row `started` is durable: run the tool. */
  | { readonly kind: 'run' }
  /** It has run: nobody runs it again. */
  | { readonly kind: 'completed'; readonly outputDigest: string; readonly status: ToolStatus }
  /** It was started, may not be repeated, and nobody knows how it ended. */
  | { readonly kind: 'unknown' };

/** Writes the ledger row of a tool call before the tool runs. Throws when the key holds another call. */
export async function startToolCall(
  db: Db,
  call: {
    readonly key: ToolCallKey;
    readonly tool: string;
    readonly argumentsDigest: string;
    readonly idempotent: boolean;
  },
): Promise<ToolStart> {
  const row = await selectRow<{ kind: ToolStart['kind']; output_digest: string; status: ToolStatus }>(db, {
    name: 'start-tool-call',
    text: 'select kind, output_digest, status from start_tool_call($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
    values: [...toKeyValues(call.key), escapeText(call.tool), call.argumentsDigest, call.idempotent],
  });
  if (row.kind !== 'completed') return { kind: row.kind };
  return { kind: 'completed', outputDigest: row.output_digest, status: row.status };
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
): Promise<{ readonly completed: boolean; readonly outputDigest: string }> {
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
  return { completed: row.completed, outputDigest: output.digest };
}

const toKeyValues = (key: ToolCallKey): unknown[] => [
  key.runId,
  key.task,
  key.attempt,
  key.generation,
  key.tryNumber,
  key.step,
  key.call,
];
