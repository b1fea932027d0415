import type { JsonObject } from '../domain/json.ts';
import type { Message, ToolStatus } from '../domain/transcript.ts';

/** One tool call of a trajectory. */
export type ToolUse = {
  readonly tool: string;
  /** Null = what the model wrote was no JSON object. */
  readonly args: JsonObject | null;
  /** `missing` = the attempt ended before there was an observation. */
  readonly status: ToolStatus | 'missing';
};

/** Tool calls in declared order; an id is unique in its answer alone. */
export function listToolUses(transcript: readonly Message[]): readonly ToolUse[] {
  const uses: ToolUse[] = [];
  for (const [index, message] of transcript.entries()) {
    if (message.role !== 'assistant') continue;
    const next = transcript.findIndex(({ role }, at) => at > index && role === 'assistant');
    const observed = transcript.slice(index + 1, next === -1 ? undefined : next);
    for (const call of message.toolCalls) {
      const found = observed.find((one) => one.role === 'tool' && one.toolCallId === call.id);
      uses.push({
        tool: call.name,
        args: call.arguments.kind === 'parsed' ? call.arguments.value : null,
        status: found?.role === 'tool' ? found.status : 'missing',
      });
    }
  }
  return uses;
}
