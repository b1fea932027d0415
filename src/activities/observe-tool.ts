import type { ToolCallKey } from '../domain/ids.ts';
import type { RunToolInput, RunToolResult } from '../domain/step.ts';
import type { AssistantMessage, ToolCall } from '../domain/transcript.ts';
import { completeToolCall } from '../store/tool-calls.ts';
import { cutForModel } from '../tools/cut-for-model.ts';
import type { ToolResult } from '../tools/tool.ts';
import type { Dependencies } from './dependencies.ts';
import { untilWritten } from './until-written.ts';

export type Seen = {
  readonly input: RunToolInput;
  readonly call: ToolCall;
  readonly result: ToolResult;
  readonly measuredMs: number;
  readonly signal: AbortSignal;
};

/** Stores the output and the observation before anybody is told of them. */
export async function observe(dependencies: Dependencies, seen: Seen): Promise<RunToolResult> {
  const { input, call, result, measuredMs, signal } = seen;
  const output = dependencies.redact(result.text);
  const message = {
    role: 'tool',
    toolCallId: call.id,
    toolName: call.name,
    text: cutForModel(output),
    status: result.status,
  } as const;
  const key = toToolCallKey(input);
  const completion = { key, status: result.status, output, message, sequence: input.sequence };
  const kept = await untilWritten(() => completeToolCall(dependencies.db, completion), signal);
  if (kept.completed) {
    const { sequence, cell, tryNumber } = input;
    const step = { sequence, message, jsonBytes: kept.messageBytes };
    dependencies.transcripts.add({ key: cell, tryNumber }, step);
  }
  if (result.final !== undefined) return await toSubmitted(dependencies, result.final, measuredMs);
  const preview = message.text.slice(0, 80).toWellFormed();
  return { kind: 'observed', status: result.status, preview, measuredMs };
}

/** The submitted text takes the place of a last answer without tool calls. */
export async function toSubmitted(
  { blobs, redact }: Dependencies,
  text: string,
  measuredMs: number,
): Promise<RunToolResult> {
  const answer: AssistantMessage = { role: 'assistant', text: redact(text), reasoning: null, toolCalls: [] };
  return { kind: 'submitted', answerDigest: await blobs.saveJson(answer), measuredMs };
}

export const toToolCallKey = ({ cell, tryNumber, step, call }: RunToolInput): ToolCallKey => ({
  runId: cell.runId,
  task: cell.task,
  attempt: cell.attempt,
  generation: cell.generation,
  tryNumber,
  step,
  call,
});
